// Set the chosen theme before the page is painted; without a choice the system's counts.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // storage is forbidden: the system's theme counts
}
