package play

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"redlocksim/internal/browser"
	"redlocksim/internal/longest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
)

// screenshots is the environment variable that says where the tests leave pictures of the playground; nowhere if unset.
const screenshots = "REDLOCKSIM_SCREENSHOTS"

// tab is the playground in a browser.
type tab struct{ *browser.Tab }

// built is the site, which takes some seconds to build, for all tests.
var built = sync.OnceValues(func() (map[string][]byte, error) { return Build(context.Background(), "../..") })

// serve serves a site until the test ends.
func serve(t testing.TB) (url string, stop func()) {
	t.Helper()
	files, err := built()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, files) }()
	return "http://" + l.Addr().String() + "/", func() {
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// visit opens the playground, and waits for its first run.
func visit(t testing.TB, in context.Context, url, fragment string, width, height int64, scheme string) *tab {
	t.Helper()
	isOurs := func(asked string) bool { return strings.HasPrefix(asked, url) || strings.HasPrefix(asked, "blob:") }
	p := &tab{browser.Open(t, in, url+fragment, width, height, scheme, isOurs)}
	t.Cleanup(func() {
		if all := p.Complaints(); len(all) > 0 {
			t.Errorf("the page complains, or asks for something from elsewhere: %s", strings.Join(all, "\n"))
		}
	})
	p.until(`document.getElementById("hash").textContent.length === 64 && document.querySelectorAll(".slider").length > 0`)
	return p
}

// get evaluates an expression in the page.
func get[V any](p *tab, expression string) V {
	p.T.Helper()
	return browser.Get[V](p.Tab, expression)
}

// await is the value of a promise.
func await[V any](p *tab, expression string) V {
	p.T.Helper()
	return browser.Get[V](p.Tab, expression, chromedp.EvalAwaitPromise)
}

// until waits until an expression is true.
func (p *tab) until(expression string) {
	p.T.Helper()
	for range 600 {
		if get[bool](p, expression) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.shot("failed")
	p.T.Fatalf("this never came: %s\nthe page says %q", expression, get[string](p, `document.body.innerText.slice(0, 1500)`))
}

func (p *tab) verdict() string {
	return get[string](p, `document.getElementById("verdict").firstChild.textContent`)
}

// shot leaves a picture.
func (p *tab) shot(name string) {
	p.T.Helper()
	dir := os.Getenv(screenshots)
	if dir == "" {
		return
	}
	png, err := chromedp.Call(p.Ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err != nil {
		p.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "play-"+name+".png"), png.Data, 0o666); err != nil {
		p.T.Fatal(err)
	}
}

// axeProgram is the environment variable that says where axe.min.js of npm's axe-core is.
const axeProgram = "REDLOCKSIM_AXE"

// axe checks what can be seen for people who use screen readers or keyboards.
func (p *tab) axe() {
	p.T.Helper()
	path := os.Getenv(axeProgram)
	if path == "" {
		if os.Getenv(browser.RequireEnv) == "1" {
			p.T.Fatalf("%s=1 and %s says nothing", browser.RequireEnv, axeProgram)
		}
		p.T.Logf("not checked for people who use screen readers: %s says nothing", axeProgram)
		return
	}
	program, err := os.ReadFile(path)
	if err != nil {
		p.T.Fatal(err)
	}
	if get[string](p, `typeof axe`) == "undefined" {
		get[string](p, string(program)+"; 'axe'")
	}
	for _, found := range await[[]string](p, `axe.run(document, {iframes: false}).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical")
		.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.target.join(" ")).join(", ")))`) {
		p.T.Error(found)
	}
}

// The simulator in a browser has the same bytes of history as here. One scenario of forty is compared, or all of them.
func TestSameHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	url, stop := serve(t)
	defer stop()
	p := visit(t, browser.Start(t), url, "", 1280, 900, "light")
	all := scenarios.Catalogue()
	if len(all) < 300 {
		t.Fatalf("%d cases, there were more", len(all))
	}
	if !longest.All() {
		some := all[:0:0]
		for i := 0; i < len(all); i += 40 {
			some = append(some, all[i])
		}
		all = some
	}
	get[string](p, `window.found = {}; window.asking = import("./engine.js"); "asking"`)
	for _, s := range all {
		r := scenariotest.Judged(t, s, scenarios.Options{})
		got := await[map[string]string](p, fmt.Sprintf(`window.asking.then(async m => {
			const name = %q, file = await m.ask({do: "file", name}), run = await m.ask({do: "run", name, text: file.ok});
			return {history: file.error || run.error || run.ok.history, trace: run.ok?.trace};
		})`, s.Name))
		if got["history"] != r.HistoryHash || got["trace"] != r.TraceHash {
			t.Errorf("%s: history %s in the browser, want %s; trace %s, want %s", s.Name, got["history"], r.HistoryHash, got["trace"], r.TraceHash)
		}
	}
}

// What a visitor does, by real clicks and keys.
func TestVisit(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the site")
	}
	url, stop := serve(t)
	defer stop()
	p := visit(t, browser.Start(t), url, "", 1280, 900, "light")
	// The clock jump is there, drawn, and as published.
	if got := p.verdict(); got != "The lock breaks: two holders (lease-overlap)" {
		t.Errorf("the page begins with %q", got)
	}
	p.until(`document.querySelectorAll("#frames iframe").length === 1`)
	p.slides()
	p.shot("start")
	p.axe()
	p.mistakes()
	p.chooses()
	p.shares(url)
	p.tours()
}

// slides uses a slider, by keys: without a step of the clock the lock holds.
func (p *tab) slides() {
	p.T.Helper()
	slider := `document.querySelector('[data-path="timeline[2].fault.clock-step.by"]')`
	p.until(slider + `.parentElement.querySelector(".note").textContent.includes("breaks from about")`)
	get[string](p, slider+`.focus(), "focused"`)
	p.Do(chromedp.KeyEvent(kb.Home))
	p.until(`document.getElementById("verdict").textContent.startsWith("The lock holds")`)
	if text := get[string](p, `document.querySelector(".cm-content").textContent`); !strings.Contains(text, "by: 0s") {
		p.T.Errorf("the file does not have what was chosen: %s", text)
	}
	p.Do(chromedp.KeyEvent(kb.End))
	p.until(`document.getElementById("verdict").textContent.startsWith("The lock breaks")`)
}

// mistakes makes one: it is told where it is.
func (p *tab) mistakes() {
	p.T.Helper()
	get[string](p, `document.querySelector(".cm-content").focus(), "focused"`)
	get[bool](p, `document.execCommand("selectAll")`)
	get[bool](p, `document.execCommand("insertText", false, "titel: wrong\nclaim: holds\n")`)
	p.until(`document.getElementById("mistakes").textContent.includes("did you mean")`)
	if got := get[string](p, `document.getElementById("mistakes").textContent`); !strings.Contains(got, `Line 1, column 1: unknown key "titel"; did you mean "title"?`) {
		p.T.Errorf("mistakes: %s", got)
	}
	p.until(`document.querySelectorAll(".cm-lint-marker-error").length > 0`)
	p.shot("mistake")
}

// chooses finds a scenario in the gallery.
func (p *tab) chooses() {
	p.T.Helper()
	p.Do(chromedp.Click("#open-gallery"))
	p.until(`document.querySelectorAll("#themes li").length > 300`)
	p.axe()
	p.Do(chromedp.SendKeys("#find", "paused fencing"))
	p.until(`document.querySelectorAll("#themes li:not([hidden])").length < 30`)
	p.shot("gallery")
	get[string](p, `[...document.querySelectorAll("#themes button")].find(b => b.textContent.startsWith("34-fencing/paused")).click(), "clicked"`)
	p.until(`document.getElementById("verdict").textContent.startsWith("The lock holds")`)
}

// shares opens on a phone the link to what there is.
func (p *tab) shares(url string) {
	p.T.Helper()
	p.Do(chromedp.Click("#share"))
	p.until(`location.hash.startsWith("#s=")`)
	hash := get[string](p, `document.getElementById("hash").textContent`)
	q := visit(p.T, p.Ctx, url, get[string](p, `location.hash`), 390, 844, "dark")
	q.until(fmt.Sprintf(`document.getElementById("hash").textContent === %q`, hash))
	q.shot("phone-dark")
	q.axe()
	if wide := get[int](q, `document.documentElement.scrollWidth`); wide > 390 {
		p.T.Errorf("at 390 pixels the page is %d wide", wide)
	}
}

// tours takes the tour to its end, which leads to the settings.
func (p *tab) tours() {
	p.T.Helper()
	p.Do(chromedp.Click("#open-tour"))
	for step, want := range []string{"The lock holds", "The lock breaks", "The lock holds", "The lock holds", "The lock holds"} {
		p.until(fmt.Sprintf(`document.getElementById("tour-at").textContent === "%d of 5" && document.getElementById("verdict").textContent.startsWith(%q)`, step+1, want))
		p.shot(fmt.Sprintf("tour-%d", step+1))
		p.Do(chromedp.Click("#tour-next"))
	}
	p.until(`document.getElementById("audit").open`)
	p.Do(chromedp.Click("#run-audit"))
	p.until(`document.querySelectorAll(".assumption.unsafe").length > 0`)
	p.shot("audit")
	p.axe()
	get[string](p, `document.querySelector(".assumption.unsafe button").click(), "clicked"`)
	p.until(`!document.getElementById("audit").open && document.getElementById("verdict").textContent.startsWith("The lock breaks")`)
}

// After the first visit the playground works without a network.
func TestOffline(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the site")
	}
	url, stop := serve(t)
	p := visit(t, browser.Start(t), url, "", 1280, 900, "light")
	await[bool](p, `navigator.serviceWorker.ready.then(() => true)`)
	p.until(`!!navigator.serviceWorker.controller`)
	stop()
	q := visit(t, p.Ctx, url, "#n=32-pause-before-write", 1920, 1080, "dark")
	if got := q.verdict(); got != "The lock breaks: late write (stale-write)" {
		t.Errorf("without a server: %q", got)
	}
	q.until(`document.querySelectorAll("#frames iframe").length === 1 && [...document.querySelectorAll(".slider .note")].every(n => n.textContent)`)
	q.shot("offline-dark")
}
