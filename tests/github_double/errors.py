"""GitHub's errors, in its words where a client may depend on them."""

from __future__ import annotations

from typing import Any

DOCS = "https://docs.github.com/rest"


class ApiError(Exception):
    """An answer that is not a success."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: list[Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = headers or {}

    def body(self) -> dict[str, Any]:
        """The JSON of the answer."""
        out: dict[str, Any] = {"message": self.message}
        if self.errors is not None:
            out["errors"] = self.errors
        out["documentation_url"] = DOCS
        out["status"] = str(self.status)
        return out


def not_found() -> ApiError:
    """404, also where the caller may not know that the thing exists."""
    return ApiError(404, "Not Found")


def simple_422(*errors: str) -> ApiError:
    """422 with plain texts, as the reviews' endpoints answer."""
    return ApiError(422, "Unprocessable Entity", list(errors))


def invalid(resource: str, field: str, message: str, code: str = "custom") -> ApiError:
    """422 with one structured entry."""
    entry = {"resource": resource, "code": code, "field": field, "message": message}
    return ApiError(422, "Validation Failed", [entry])
