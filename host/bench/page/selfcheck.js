"use strict";
// With #selfcheck behind its address the page tries itself: `cargo xtask report --check` opens it so without a window.

/** Tries what is outside of the figures: names of what does nothing. */
function tryPage() {
  const dead = [];
  const paper = () => getComputedStyle(document.body).backgroundColor;
  const light = paper();
  themeButton.click();
  if (paper() === light) {
    dead.push("the theme's button");
  }
  themeButton.click();
  for (const table of document.querySelectorAll("table.sortable")) {
    const column = [...table.tHead.rows[0].cells].findIndex((head) => head.classList.contains("number"));
    const numbers = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.value));
    const sorted = numbers().sort((a, b) => b - a);
    const button = table.tHead.rows[0].cells[column].querySelector("button");
    button.click();
    const down = String(numbers()) === String(sorted);
    button.click();
    if (!down || String(numbers()) !== String(sorted.reverse())) {
      dead.push(`sorting by ${button.textContent}`);
    }
  }
  const plot = document.querySelector(".plots button");
  const width = plot?.clientWidth;
  plot?.click();
  // In a narrow window a plot has the whole width at once.
  if (plot && plot.clientWidth < Math.max(width, plot.closest(".plots").clientWidth - 1)) {
    dead.push("enlarging a plot");
  }
  plot?.click();
  return dead;
}

if (location.hash === "#selfcheck") {
  window.addEventListener("load", () => leaveFindings(() => ({
    tables: document.querySelectorAll("table").length,
    dead: tryPage(),
  })));
}
