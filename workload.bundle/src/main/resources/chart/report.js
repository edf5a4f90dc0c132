(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = id => document.getElementById(id);
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const number = value => value.toLocaleString("en");
  const percent = (value, digits = 1) => (100 * value).toFixed(digits) + " %";
  const size = bytes => {
    if (bytes === null) return "unlimited";
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = 0;
    let value = bytes;
    while (Math.abs(value) >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
    return (unit === 0 ? value : +value.toFixed(value < 10 ? 2 : 1)) + " " + units[unit];
  };
  const time = nanos => {
    if (nanos < 1e3) return nanos + " ns";
    if (nanos < 1e6) return +(nanos / 1e3).toPrecision(3) + " µs";
    if (nanos < 1e9) return +(nanos / 1e6).toPrecision(3) + " ms";
    return +(nanos / 1e9).toPrecision(3) + " s";
  };
  const ledger = data.ledgerAtEnd;
  const ledgerZero = Object.values(ledger).every(value => value === 0);

  // Head
  byId("subtitle").textContent = `${data.trace} · ${data.dry ? "dry run, books only"
      : `provider ${data.provider}, ${data.mechanism}`} · ${size(data.granuleBytes)} granules · ${data.model}, ${
      size(data.bytesPerToken)} a token`;
  const verdict = byId("verdict");
  if (!data.good) {
    verdict.textContent = "Failed";
    verdict.className = "bad";
  } else if (data.interrupted) {
    verdict.textContent = "Stopped early, nothing left behind";
    verdict.className = "warn";
  } else {
    verdict.textContent = data.dry ? "Books balance" : "Every byte right, ledger zero";
    verdict.className = "good";
  }

  // Tiles
  const tile = (name, value, note, bad) => {
    const element = make("div", undefined, bad ? "tile bad" : "tile");
    element.append(make("div", name, "name"), make("div", value, "value"), make("div", note, "note"));
    byId("tiles").append(element);
  };
  tile("Requests", number(data.requests), `${number(data.completed)} completed`);
  tile("Refused", number(data.refused), data.preempted ? `${number(data.preempted)} made room and ran again` : "none made room for others");
  tile("Failed", number(data.failed), data.stopped ? `${number(data.stopped)} stopped` : "of all requests", data.failed > 0);
  tile("Wrong bytes", number(data.wrongBytes), data.dry ? "nothing to verify" : `${number(data.verifiedGranules)} granules verified, ${data.write}`, data.wrongBytes > 0);
  tile("Prefix hits", percent(data.blockHitRatio), `${number(data.blockHits)} of ${number(data.blocks)} blocks`);
  tile("Sharing saved", size(data.attachedBytes), `${size(data.peakSavedBytes)} at the highest moment`);
  tile("Held / useful", data.heldOverUseful.toFixed(3), "bytes owned for each that holds a token");
  tile("Driver calls", data.driverCalls < 0 ? "–" : number(data.driverCalls), data.driverCalls < 0 ? "not counted"
      : `${(data.driverCalls / Math.max(1, data.requests)).toFixed(1)} a request`);
  tile("Ledger at the end", ledgerZero ? "zero" : size(ledger.ownedBytes), ledgerZero ? "nothing left behind" : "left behind", !ledgerZero);
  tile("Wall time", +data.wallSeconds.toPrecision(3) + " s", `${data.threads} ${data.threads === 1 ? "thread" : "threads"}, ${number(data.peakActive)} active at most`);

  // Peaks
  const saving = byId("saving");
  saving.append(make("h2", "Peak memory"));
  const most = Math.max(data.peakNaiveBytes, data.peakMappedBytes, data.peakOwnedBytes, 1);
  for (const [name, bytes, color] of [
    ["Whole contexts, alone", data.peakNaiveBytes, "--c3"],
    ["Mapped", data.peakMappedBytes, "--c2"],
    ["Owned, in use", data.peakInUseBytes, "--c1"],
    ["Owned, kept included", data.peakOwnedBytes, "--c5"]]) {
    const row = make("div", undefined, "bar");
    const track = make("div", undefined, "track");
    const fill = make("div", undefined, "fill");
    fill.style.width = 100 * bytes / most + "%";
    fill.style.background = `var(${color})`;
    track.append(fill);
    row.append(make("div", name), track, make("div", size(bytes), "size"));
    saving.append(row);
  }

  // Tables
  const row = (table, cells) => {
    const line = make("tr");
    cells.forEach((cell, i) => line.append(make(i ? "td" : "th", cell)));
    table.append(line);
  };
  const latency = byId("latency");
  const head = make("thead");
  const headRow = make("tr");
  for (const name of ["", "count", "p50", "p99", "max"]) headRow.append(make("th", name));
  head.append(headRow);
  const body = make("tbody");
  latency.append(head, body);
  // The books of a dry run take time too, but nobody's.
  const operations = Object.entries(data.latencyNanos).filter(([, value]) => !data.dry && value.count > 0);
  for (const [name, value] of operations) {
    row(body, [name, number(value.count), time(value.p50), time(value.p99), time(value.max)]);
  }
  latency.parentElement.hidden = !operations.length;
  const plain = (id, entries) => {
    const table = byId(id);
    table.className = "plain";
    const lines = make("tbody");
    table.append(lines);
    entries.forEach(entry => row(lines, entry));
  };
  plain("ledger", [["account", data.account], ["owned", size(ledger.ownedBytes)], ["mapped", size(ledger.mappedBytes)],
    ["leases", number(ledger.leases)], ["quarantined", size(ledger.quarantinedBytes)]]);
  plain("settings", [["budget", data.budgetBytes === null ? "as configured" : size(data.budgetBytes)],
    ["prefix blocks kept", data.retain === null ? "all" : number(data.retain)], ["written and verified", data.write],
    ["threads", number(data.threads)], ["active at most", number(data.active)],
    ["speed", data.speed === 0 ? "as fast as possible" : data.speed + " × trace time"],
    ["tokens", number(data.tokens)], ["lines skipped", number(data.badLines)]]);
  const messages = data.problems.concat(data.refusals);
  if (messages.length) {
    byId("messages").hidden = false;
    messages.forEach(text => byId("messages").querySelector("ul").append(make("li", text)));
  }

  // Charts
  const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const seconds = data.samples.seconds;
  const ratio = (over, under) => over.map((value, i) => under[i] > 0 ? value / under[i] : null);
  const charts = [];
  const axis = (values, extra) => Object.assign({
    stroke: color("--muted"), grid: { stroke: color("--grid"), width: 1 }, ticks: { stroke: color("--grid"), width: 1 },
    font: "12px system-ui, sans-serif", values: values
  }, extra);
  const line = (label, colorName, value, fill) => ({
    label: label, stroke: color(colorName), width: 2, fill: fill ? color(colorName) + "22" : undefined,
    points: { show: seconds.length < 3 }, value: (chart, raw) => raw === null || raw === undefined ? "–" : value(raw)
  });
  // Steps that are round in binary, or a size axis shows 953.7 MiB.
  const binarySteps = [];
  for (let unit = 1; unit <= 2 ** 50; unit *= 2) binarySteps.push(unit);
  const panel = (title, hint) => {
    const element = make("div", undefined, "panel");
    element.append(make("h2", title), make("div", hint, "hint"));
    byId("charts").append(element);
    return element;
  };
  const chart = (title, hint, columns, series, yValues, scale, yExtra) => {
    const element = panel(title, hint);
    const options = {
      width: element.clientWidth - 36, height: 250, cursor: { drag: { x: true, y: false } },
      scales: { x: { time: false }, y: scale },
      series: [{ label: "time", value: (c, raw) => raw === null || raw === undefined ? "–" : raw.toFixed(2) + " s" }, ...series],
      axes: [axis((c, ticks) => ticks.map(tick => tick + " s")), axis((c, ticks) => ticks.map(yValues), Object.assign({ size: 72 }, yExtra))]
    };
    charts.push([new uPlot(options, [seconds, ...columns], element), element]);
  };
  const draw = () => {
    byId("charts").replaceChildren();
    charts.length = 0;
    const s = data.samples;
    const fromZero = { range: (c, low, high) => [0, high > 0 ? high * 1.08 : 1] };
    chart("Memory over the run", "Owned counts a shared granule once, mapped counts it for each request that reaches it.",
      [s.naiveBytes, s.mappedBytes, s.inUseBytes, s.ownedBytes],
      [line("whole contexts, alone", "--c3", size), line("mapped", "--c2", size),
        line("owned, in use", "--c1", size, true), line("owned, kept included", "--c5", size)], size, fromZero, { incrs: binarySteps });
    chart("Held over useful", "Bytes owned for each byte that holds a token: what is lost to whole granules. 1 is perfect.",
      [ratio(s.ownedBytes, s.usefulBytes)], [line("held / useful", "--c6", value => value.toFixed(3))],
      value => value.toFixed(2), { range: (c, low, high) => [1, Math.max(1.1, Math.min(high || 2, 4) * 1.03)] });
    chart("Prefix hits so far", "Share of prompt blocks that were present when their request began.",
      [ratio(s.blockHits, s.blocks)], [line("hits", "--c4", value => percent(value), true)],
      value => percent(value, 0), { range: [0, 1] });
    chart("Requests", "Active ones hold memory; waiting ones need more than there is.",
      [s.active, s.waiting], [line("active", "--c1", number, true), line("waiting", "--c6", number)], number, fromZero);
    chart("Prefix blocks kept", "Without a user, ready for the next prompt that starts with them.",
      [s.idleBlocks], [line("idle blocks", "--c2", number, true)], number, fromZero);
    drawLatency();
  };
  const drawLatency = () => {
    if (!operations.length) return;
    const element = panel("Latency by percentile", "Time for one call, on a logarithmic scale.");
    const ranks = ["p50", "p90", "p99", "p999", "max"];
    const labels = ["p50", "p90", "p99", "p99.9", "max"];
    const options = {
      width: element.clientWidth - 36, height: 250, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false, range: [-0.2, 4.2] }, y: { distr: 3 } },
      series: [{ label: "percentile", value: (c, raw) => labels[raw] || "–" },
        ...operations.map(([name], i) => ({ ...line(name, "--c" + (i % 6 + 1), time), points: { show: true, size: 6 } }))],
      axes: [axis((c, ticks) => ticks.map(tick => labels[tick]), { splits: () => [0, 1, 2, 3, 4] }),
        axis((c, ticks) => ticks.map(tick => tick === null ? null : time(tick)), { size: 72 })]
    };
    const columns = operations.map(([, value]) => ranks.map(rank => Math.max(1, value[rank])));
    charts.push([new uPlot(options, [[0, 1, 2, 3, 4], ...columns], element), element]);
  };
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("resize", () => charts.forEach(([plot, element]) => plot.setSize({ width: element.clientWidth - 36, height: 250 })));
})();
