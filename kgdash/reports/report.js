
const night = matchMedia("(prefers-color-scheme: dark)");
const charts = [...document.querySelectorAll("[data-chart]")];

function ink(printing) {
  return night.matches && !printing ? "#e6e9ed" : "#1b1f24";
}

function colour(printing = false) {
  for (const chart of charts) {
    if (chart.data) Plotly.relayout(chart, {"font.color": ink(printing)});
  }
}

function draw(chart) {
  const name = chart.dataset.chart;
  const {data, layout} = JSON.parse(document.getElementById(`chart-${name}`).textContent);
  layout.font = {...layout.font, color: ink(false), family: "system-ui, sans-serif"};
  const image = {filename: name, format: "svg"};
  Plotly.newPlot(chart, data, layout, {responsive: true, displaylogo: false, toImageButtonOptions: image});
}

function sortBy(header) {
  const body = header.closest("table").tBodies[0];
  const place = header.cellIndex;
  const down = header.getAttribute("aria-sort") === "ascending";
  const value = row => row.cells[place].dataset.value;
  const numeric = header.classList.contains("number");
  const compare = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === "" || y === "") return (x === "") - (y === "");
    const order = numeric ? Number(x) - Number(y) : x.localeCompare(y);
    return down ? -order : order;
  };
  for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...[...body.rows].sort(compare));
}

charts.forEach(draw);
night.addEventListener("change", () => colour());
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  colour(true);
});
addEventListener("afterprint", () => colour());
document.addEventListener("click", event => {
  const button = event.target.closest("th button");
  if (button) sortBy(button.closest("th"));
});
