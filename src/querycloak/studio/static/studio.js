"use strict";
// What scripts add to pages that work without them: live progress, sorting, filters, copying.

const INTERVAL = 700; // milliseconds between two questions while something is going on
const IDLE = 4000; // while nothing is: another tab may start something

const say = (text) => { document.getElementById("said").textContent = text; };

// ---- live progress: one small question again and again; parts of the page are fetched again when a stage ends

let known = null; // runs that have ended, by id: what was said of them is not said again

function showJobs(jobs) {
  for (const job of jobs) {
    const box = document.querySelector(`[data-job="${CSS.escape(job.id)}"]`);
    if (!box) continue;
    box.querySelector(".says").textContent = job.says;
    const bar = box.querySelector("progress");
    if (job.share === null) bar.removeAttribute("value"); else bar.value = job.share;
  }
}

function tellEnded(verdicts) {
  if (known !== null) {
    const fresh = Object.entries(verdicts).filter(([id]) => !(id in known));
    if (fresh.length) say(fresh.map(([, [name, word]]) => `${name}: ${word}`).join("; "));
  }
  known = verdicts;
}

async function swap(ids) {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (answer.redirected && answer.url !== location.href) { location.replace(answer.url); return; }
  if (!answer.ok) { location.reload(); return; }
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  const focused = document.activeElement && document.activeElement.closest("[id], [aria-label]");
  const name = focused && (focused.id ? `#${CSS.escape(focused.id)}` : `[aria-label="${CSS.escape(focused.getAttribute("aria-label"))}"]`);
  for (const id of ids) {
    const [old, fresh] = [document.getElementById(id), next.getElementById(id)];
    if (old && fresh) old.replaceWith(document.importNode(fresh, true));
  }
  document.title = next.title;
  for (const key of ["state", "stamp", "swap"]) {
    if (key in next.body.dataset) document.body.dataset[key] = next.body.dataset[key]; else delete document.body.dataset[key];
  }
  if (name && document.activeElement === document.body) {
    const again = document.querySelector(name);
    if (again) again.focus({ preventScroll: true });
  }
  prepare();
  document.dispatchEvent(new Event("studio:swapped"));
  if (ids.includes("main")) { const h = document.querySelector("main h1"); if (h) say(h.textContent); }
}

async function ask() {
  const address = document.body.dataset.state;
  if (!address) return;
  let wait = INTERVAL;
  try {
    const answer = await fetch(address, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = await answer.json();
    showJobs(found.jobs);
    tellEnded(found.verdicts);
    if (document.body.dataset.stamp !== found.stamp) await swap(document.body.dataset.swap.split(" "));
    else if (!found.active) wait = IDLE;
  } catch {
    say("The studio does not answer. Is it still running?");
    document.body.classList.add("lost");
    wait = IDLE;
    setTimeout(ask, wait);
    return;
  }
  document.body.classList.remove("lost");
  setTimeout(ask, document.hidden ? Math.max(wait, 2000) : wait);
}

// ---- tables whose head sorts

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const value = (row) => row.cells[index].dataset.value ?? row.cells[index].textContent;
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        const order = Number.isNaN(Number(x)) || Number.isNaN(Number(y)) ? x.localeCompare(y) : Number(x) - Number(y);
        return falling ? -order : order;
      });
      table.tBodies[0].append(...rows);
      say(`Sorted by ${head.textContent.trim()}, ${falling ? "falling" : "rising"}.`);
    });
  });
}

// ---- what is set up once for a page, and again for parts that were fetched again

function prepare() {
  for (const table of document.querySelectorAll("table.sortable:not([data-ready])")) { table.dataset.ready = ""; sortable(table); }
  for (const input of document.querySelectorAll("[data-filter]:not([data-ready])")) {
    input.dataset.ready = "";
    input.hidden = false;
    input.addEventListener("input", () => {
      for (const item of document.getElementById(input.dataset.filter).children) {
        item.hidden = !item.textContent.toLowerCase().includes(input.value.toLowerCase());
      }
    });
  }
  for (const button of document.querySelectorAll("[data-copy]:not([data-ready])")) {
    button.dataset.ready = "";
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
        say("Copied.");
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Selected: press Ctrl+C";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2500);
    });
  }
  for (const form of document.querySelectorAll("form[data-upload]:not([data-ready])")) {
    form.dataset.ready = "";
    form.addEventListener("submit", (event) => {
      const file = form.querySelector("input[type=file]").files[0];
      const problem = document.getElementById("upload-problem");
      problem.hidden = !(file && file.size > Number(form.dataset.upload));
      if (!problem.hidden) {
        problem.textContent = "This file is larger than the studio takes. Put it into the folder of the studio instead, or start the studio with a larger --max-upload.";
        event.preventDefault();
        return;
      }
      form.querySelector("button").textContent = "Uploading…";
    });
  }
  for (const frame of document.querySelectorAll("iframe.check:not([data-ready])")) {
    frame.dataset.ready = "";
    const fit = () => {
      const inner = frame.contentDocument && frame.contentDocument.documentElement;
      if (inner) frame.height = String(Math.ceil(inner.getBoundingClientRect().height) + 8);
    };
    frame.addEventListener("load", () => {
      fit();
      new ResizeObserver(fit).observe(frame.contentDocument.documentElement);
    });
    if (frame.contentDocument && frame.contentDocument.readyState === "complete") fit();
  }
  if (location.hash) {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  }
}

// A form that is sent twice by a double click would start everything twice.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method === "get") return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "1";
});
addEventListener("pageshow", () => { for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent; });

prepare();
ask();
