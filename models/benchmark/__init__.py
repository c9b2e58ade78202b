"""The papers' tables, reproduced: data sets in their published layouts, runs, and tables."""
