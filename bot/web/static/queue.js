// The queue by keyboard. Without this script everything works by its buttons.
"use strict";

(() => {
  const cards = [...document.querySelectorAll("#queue .card")];
  const box = document.getElementById("single-keys");
  if (!cards.length || !box) return;

  const KEY = "marginalia-single-keys";
  box.checked = localStorage.getItem(KEY) !== "off";
  box.addEventListener("change", () => localStorage.setItem(KEY, box.checked ? "on" : "off"));

  const current = () => cards.indexOf(document.activeElement?.closest?.("#queue .card"));
  const go = (at) => {
    const card = cards[Math.max(0, Math.min(cards.length - 1, at))];
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  };
  const submit = (card, which) => card.querySelector(`form.${which}`)?.requestSubmit();
  const edit = (card) => {
    const details = card.querySelector("details.edit");
    if (!details) return;
    details.open = true;
    details.querySelector("textarea").focus();
  };

  document.addEventListener("keydown", (event) => {
    const at = current();
    const field = event.target.closest("textarea, input, select");
    if (field?.tagName === "TEXTAREA" && at >= 0) {
      if (event.key === "Escape") {
        event.preventDefault();
        cards[at].focus();
      } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        field.form.requestSubmit();
      }
      return;
    }
    if (field || !box.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      j: () => go(at + 1),
      k: () => go(at - 1),
      a: () => at >= 0 && submit(cards[at], "approve"),
      e: () => at >= 0 && edit(cards[at]),
      r: () => at >= 0 && submit(cards[at], "reject"),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // after a decision the next one is at hand; on a first visit the page's top is
  const open = document.querySelector("#queue details.edit[open] textarea");
  if (open) open.focus();
  else if (document.querySelector(".said")) go(0);
})();
