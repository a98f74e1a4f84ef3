package main

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"redlocksim/internal/browser"
)

// hostile has markup in every name and text that a scenario file can have, which runs a script or loads something where it
// becomes part of a page.
const hostile = `title: "</title><script>window.pwned=1</script><img src=http://127.0.0.1:9/t onerror=window.pwned=1>"
source: "\"><svg onload=window.pwned=1><style>@import 'http://127.0.0.1:9/s';</style>"
explanation: "</script><script>window.pwned=1</script>"
claim: unsound
clients: ["<img src=x onerror=window.pwned=1>", "</script><script>window.pwned=1</script>"]
nodes: {names: ["<b onmouseover=window.pwned=1>", B, "C\" onload=\"window.pwned=1"]}
lock: {ttl: 2s}
timeline:
  - {at: 0s, client: "<img src=x onerror=window.pwned=1>", do: [lock, write, hold: 1s, unlock]}
  - {after: {client: "<img src=x onerror=window.pwned=1>", event: acquire-done}, fault: {pause: {process: "<img src=x onerror=window.pwned=1>", for: 5s}}}
  - {at: 3s, client: "</script><script>window.pwned=1</script>", do: [lock, write, hold: 5s, unlock]}
expect: {findings: safe, unavailable: {at-most: 60s}}
`

// No page runs a script of a name, loads anything or is refused something of its own, whatever is pointed at.
func TestPagesOfHostileNames(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	ctx := browser.Start(t)
	dir := t.TempDir()
	t.Chdir(dir)
	for file, text := range map[string]string{"hostile.yaml": hostile, "weak.yaml": wordsInputs["settings.yaml"]} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	do := func(args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(args, &stdout, &stderr); code != exitOK && code != exitSafety && code != exitNotTested {
			t.Fatalf("%v: exit code %d\n%s%s", args, code, &stdout, &stderr)
		}
	}
	do("run", "hostile.yaml", "--html", "run.html")
	do("suite", "hostile.yaml", "--tier", "model", "--html", "suite")
	do("sweep", "--scenario", "hostile.yaml", "--axis", "lock.ttl=1s,2s", "--html", "sweep.html")
	do("explore", "weak.yaml", "--seeds", "20", "--dir", "found")
	pages, err := filepath.Glob("found/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("explore drew no pages: %v", err)
	}
	pages = append(pages[:1], "run.html", "suite/index.html", "suite/hostile.html", "sweep.html")
	for _, path := range pages {
		complaints := visit(t, ctx, filepath.Join(dir, path))
		for _, c := range complaints {
			t.Errorf("%s: %s", path, c)
		}
	}
	// The test sees a script that runs, and a refusal of the policy.
	for name, text := range map[string]string{"runs.html": "<script>window.pwned=1</script>",
		"refused.html": `<meta http-equiv="Content-Security-Policy" content="default-src 'none'"><img src=x onerror=window.pwned=1>`} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if len(visit(t, ctx, filepath.Join(dir, name))) == 0 {
			t.Errorf("%s: nothing was seen", name)
		}
	}
}

// visit opens a page, moves the mouse over all there is in it, and says what was wrong.
func visit(t *testing.T, in context.Context, path string) []string {
	t.Helper()
	address := (&url.URL{Scheme: "file", Path: path}).String()
	beside, _ := strings.CutSuffix(address, filepath.Base(path))
	p := browser.Open(t, in, address, 1280, 900, "light", func(asked string) bool { return asked == beside+"style.css" || asked == beside+"script.js" })
	browser.Get[any](p, `(async () => {
		for (let i = 0; i < 100 && document.getElementById("data") && !("drawn" in document.documentElement.dataset); i++) await new Promise((done) => setTimeout(done, 50));
		for (const e of document.querySelectorAll("*"))
			for (const type of ["mouseover", "mousemove", "mouseenter", "pointermove", "click", "focus"])
				if (!(type === "click" && e.closest("a"))) e.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: 300, clientY: 200 }));
		if (document.getElementById("data") && !document.querySelector("#picture .lane")) throw new Error("nothing is drawn");
	})()`, chromedp.EvalAwaitPromise)
	time.Sleep(400 * time.Millisecond) // what an event begins, as loading an image, takes a moment
	complaints := p.Complaints()
	if browser.Get[bool](p, `!!window.pwned`) {
		complaints = append(complaints, "a script of a name ran")
	}
	return complaints
}
