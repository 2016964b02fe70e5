"use strict";
// The page around the figures: theme, tables that sort, print.

const systemDark = matchMedia("(prefers-color-scheme: dark)");
const themeButton = document.getElementById("theme");

/** "light" or "dark" as the reader chose, else as the system has it. */
function currentTheme() {
  return document.documentElement.dataset.theme ?? (systemDark.matches ? "dark" : "light");
}

function themeChanged() {
  themeButton.textContent = currentTheme() === "dark" ? "Light" : "Dark";
  viewers.forEach((viewer) => viewer.changed());
}

themeButton.addEventListener("click", () => {
  document.documentElement.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
  themeChanged();
});
systemDark.addEventListener("change", themeChanged);
themeChanged();

// A head's button sorts the rows, then the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.querySelector("button")?.addEventListener("click", () => {
      const order = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
      const value = (row) => {
        const { value: number } = row.cells[column].dataset;
        return number === undefined ? row.cells[column].textContent : Number(number);
      };
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        return order * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
      });
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order === 1 ? "ascending" : "descending");
      table.tBodies[0].append(...rows);
    });
  });
}

// A plot takes the whole width, or half of it.
for (const button of document.querySelectorAll(".plots button")) {
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  });
}

// Paper is light, and shows what is folded.
const folded = [];
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    folded.push(details);
  }
  document.documentElement.classList.add("printing");
  viewers.forEach((viewer) => viewer.draw());
});
window.addEventListener("afterprint", () => {
  folded.splice(0).forEach((details) => {
    details.open = false;
  });
  document.documentElement.classList.remove("printing");
  viewers.forEach((viewer) => viewer.changed());
});
