package timeline

import (
	"context"
	"flag"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"redlocksim/internal/browser"
	"redlocksim/internal/longest"
	"redlocksim/internal/rounded"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// screenshots is the environment variable that says where the tests in a browser leave pictures of the pages; if unset, they
// are the artifacts of the test that go test -artifacts keeps.
const screenshots = "REDLOCKSIM_SCREENSHOTS"

// tab is the page of a timeline in a browser.
type tab struct{ *browser.Tab }

// open writes a timeline as a page and opens it from its file, in a window of this size.
func open(t *testing.T, in context.Context, line *Timeline, width, height int64, dark bool) *tab {
	t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	nothing := func(string) bool { return false }
	p := &tab{browser.Open(t, in, written(t, line), width, height, scheme, nothing)}
	p.untilDrawn()
	return p
}

// untilDrawn waits for the picture, whose data the program of the page unpacks first.
func (p *tab) untilDrawn() {
	p.T.Helper()
	p.Do(chromedp.WaitReady("html[data-drawn]"))
}

// written is where a timeline has been written as a page.
func written(t *testing.T, line *Timeline) (address string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(rendered(t, "html", line)), 0o666); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// turn opens a timeline's page in the place of the one that a tab shows, or in a tab of its own if there is none yet.
func (p *tab) turn(t *testing.T, in context.Context, line *Timeline) *tab {
	t.Helper()
	if p == nil {
		return open(t, in, line, 1920, 900, false)
	}
	p.Go(written(t, line))
	p.untilDrawn()
	return p
}

// get evaluates an expression in the page.
func get[V any](p *tab, expression string) V {
	p.T.Helper()
	return browser.Get[V](p.Tab, expression)
}

// press presses keys, one after the other.
func (p *tab) press(keys ...string) {
	p.T.Helper()
	for _, k := range keys {
		p.Do(chromedp.KeyEvent(k))
	}
}

// box is where an element is in the window: left, top, width and height.
func (p *tab) box(selector string) [4]float64 {
	p.T.Helper()
	return get[[4]float64](p, fmt.Sprintf(`(() => { const b = document.querySelector(%q).getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()`, selector))
}

// hover moves the mouse to a place in the window and returns what the page says of it.
func (p *tab) hover(x, y float64) string {
	p.T.Helper()
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	return get[string](p, `document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent`)
}

// bar is the selector of a span of a lane.
func bar(line *Timeline, lane string, is func(Span) bool) string {
	for i, l := range line.Lanes {
		for j, s := range l.Spans {
			if l.Name == lane && is(s) {
				return fmt.Sprintf(`.lane[data-lane="%d"] .span[data-i="%d"] rect`, i, j)
			}
		}
	}
	return "#nothing"
}

// shown is the page of a run in a browser, with what it is drawn from.
type shown struct {
	*tab
	browser context.Context
	result  *verdict.Result
	line    *Timeline
	granted int // the step of the story in which client-2 acquires the lock
}

// Each part leaves the page so that the next can go on from it.
func TestPageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	p := &shown{browser: browser.Start(t)}
	p.result, p.line = drawn(t, "17-clock-jump")
	p.tab = open(t, p.browser, p.line, 1280, 800, false)
	p.granted = slices.IndexFunc(p.line.Story, func(s Step) bool { return strings.HasPrefix(s.Text, "client-2 acquires the lock") })
	if p.granted < 0 {
		t.Fatalf("client-2 is never granted the lock in %v", p.line.Story)
	}
	for _, part := range []struct {
		name string
		test func(*testing.T, *shown)
	}{
		{"the overlap is in view", overlapIsInView},
		{"the keyboard steps through the story", keyboardSteps},
		{"the state at the cursor", stateAtTheCursor},
		{"hovering tells numbers of the history", hoveringTellsNumbers},
		{"zoom and scale", zoomAndScale},
		{"a click moves the cursor", clickMovesTheCursor},
		{"the filter hides a lane", filterHidesALane},
		{"dark", darkIsChosenOrTheSystems},
	} {
		t.Run(part.name, func(t *testing.T) {
			p.T = t
			part.test(t, p)
		})
	}
	if len(p.Complaints()) > 0 {
		t.Errorf("the page complains: %q", p.Complaints())
	}
}

func overlapIsInView(t *testing.T, p *shown) {
	band, view := p.box(".violation .band"), p.box("#view")
	if band[0] < view[0] || band[0]+band[2] > view[0]+view[2] || band[2] < 50 || band[1] < 0 || band[1]+band[3] > 800 {
		t.Errorf("the band is at %v, the picture at %v", band, view)
	}
	axis := get[[]string](p.tab, `[...document.querySelectorAll(".axis text")].map((e) => e.textContent)`)
	// The labels are written by the program of the page, which rounds on its own.
	for _, want := range []string{"6.25ms", "1.01s", "1.11s", "3.11s", "8.01s"} {
		if !slices.Contains(axis, want) {
			t.Errorf("%q lacks %s", axis, want)
		}
	}
	flag := p.box(".flag")
	if flag[0] < view[0] || flag[0]+flag[2] > view[0]+view[2] {
		t.Errorf("its name is at %v", flag)
	}
}

func keyboardSteps(t *testing.T, p *shown) {
	cursor := func() (text, current string, x float64) {
		return get[string](p.tab, `document.querySelector("#cursor text").textContent`),
			get[string](p.tab, `[...document.querySelectorAll("#story [aria-current]")].map((li) => li.dataset.i).join()`), p.box("#cursor path")[0]
	}
	last := -math.MaxFloat64
	for i, s := range p.line.Story {
		p.press(kb.ArrowRight)
		text, current, x := cursor()
		if text != seconds(s.At) || current != fmt.Sprint(i) || x < last {
			t.Errorf("step %d is at %s: the cursor is at %s, %.1f after %.1f, and the story at %s", i, seconds(s.At), text, x, last, current)
		}
		last = x
	}
	p.press(kb.ArrowLeft)
	before := len(p.line.Story) - 2
	if text, current, _ := cursor(); text != seconds(p.line.Story[before].At) || current != fmt.Sprint(before) {
		t.Errorf("one back: %s, %s", text, current)
	}
	p.press(kb.Home)
	if text, current, _ := cursor(); text != "0.0000s" || current != "0" {
		t.Errorf("home: %s, %s", text, current)
	}
	if status := get[string](p.tab, `document.getElementById("now").textContent`); !strings.Contains(status, fmt.Sprintf("Step 1 of %d", len(p.line.Story))) || !strings.Contains(status, p.line.Story[0].Text) {
		t.Errorf("it tells: %s", status)
	}
}

func stateAtTheCursor(t *testing.T, p *shown) {
	p.press(kb.Home)
	for range p.granted {
		p.press(kb.ArrowRight)
	}
	at := p.line.Violation.From
	key := p.line.lane("A").all(keySpan)[0]
	state := get[string](p.tab, `document.getElementById("state").innerText`)
	left := time.Duration(key.Left - int64(at-key.From)).Seconds()
	for _, want := range []string{
		fmt.Sprintf("keeps “R” of client-1, %.3fs to live", left), "wall clock +10s",
		"believes it has the lock (grant 1), for " + seconds(p.line.Violation.Windows[0].To-at) + " more",
		"believes it has the lock (grant 2), for 2.0000s more", "keeps “R” of client-2"} {
		if !strings.Contains(state, want) {
			t.Errorf("no %q in\n%s", want, state)
		}
	}
}

func hoveringTellsNumbers(t *testing.T, p *shown) {
	var granted, released string
	for _, e := range p.result.History {
		if e.Process == "client-2" && e.Kind == history.Return && e.Func == history.Acquire {
			granted = seconds(Instant(e.Time))
		}
		if e.Process == "client-2" && e.Kind == history.Call && e.Func == history.Release {
			released = seconds(Instant(e.Time))
		}
	}
	box := p.box(bar(p.line, "client-2", func(s Span) bool { return s.Kind == believedSpan }))
	if tip, want := p.hover(box[0]+box[2]/2, box[1]+box[3]/2), "client-2 believes in its lock (grant 2) from "+granted+" to "+released; !strings.HasPrefix(tip, want) {
		t.Errorf("%q, want %q", tip, want)
	}
	key := p.line.lane("B").all(keySpan)[0]
	box = p.box(bar(p.line, "B", func(s Span) bool { return s.Kind == keySpan }))
	tip := p.hover(box[0]+box[2]*.72, box[1]+box[3]/2)
	var left, at float64
	if i := strings.LastIndex(tip, "; "); i < 0 {
		t.Fatalf("%q", tip)
	} else if _, err := fmt.Sscanf(tip[i:], "; %fs left at %fs", &left, &at); err != nil {
		t.Fatalf("%q: %v", tip, err)
	}
	if want := float64(key.Left)/1e9 - (at - float64(key.From)/1e9); math.Abs(left-want) > .002 || at < float64(key.From)/1e9 || at > float64(key.To)/1e9 {
		t.Errorf("%.3fs are left at %.4fs, want %.3fs", left, at, want)
	}
	// An arrow has no area: what is near it counts. Between the lanes there is nothing else.
	for i, a := range p.line.Arrows {
		if p.line.Lanes[a.From].Name != "client-1" || p.line.Lanes[a.To].Name != "A" {
			continue
		}
		box := p.box(fmt.Sprintf(`.arrow[data-i="%d"]`, i))
		want := fmt.Sprintf("acquire request client-1 → A, sent at %s, arrived at %s after %v", seconds(a.Sent), seconds(a.Ended), rounded.Duration(time.Duration(a.Ended-a.Sent)))
		if tip := p.hover(box[0]+box[2]*.5, box[1]+box[3]*.5); tip != want {
			t.Errorf("%q, want %q", tip, want)
		}
		break
	}
	p.hover(5, 790)
}

func zoomAndScale(t *testing.T, p *shown) {
	before := p.box(".violation .band")[2]
	p.press("+")
	if after := p.box(".violation .band")[2]; after < before*1.3 {
		t.Errorf("the band is %.0f wide, and was %.0f", after, before)
	}
	p.press("v")
	if band, view := p.box(".violation .band"), p.box("#view"); band[0] < view[0] || band[0]+band[2] > view[0]+view[2] || band[2] < view[2]/4 {
		t.Errorf("v: the band is at %v, the picture at %v", band, view)
	}
	p.press("0")
	if after := p.box(".violation .band")[2]; math.Abs(after-before) > 2 {
		t.Errorf("the band is %.0f wide, and was %.0f", after, before)
	}
	const breaks = `document.querySelectorAll(".axis .break").length`
	if n := get[int](p.tab, breaks); n == 0 {
		t.Error("no break of the axis")
	}
	p.Do(chromedp.Click("#even"))
	if n := get[int](p.tab, breaks); n != 0 {
		t.Errorf("%d breaks of an even axis", n)
	}
	one, two := p.box(bar(p.line, "client-1", func(s Span) bool { return s.Kind == believedSpan }))[2], p.box(bar(p.line, "client-2", func(s Span) bool { return s.Kind == believedSpan }))[2]
	w := p.line.Violation.Windows
	if want := float64(w[0].To-w[0].From) / float64(w[1].To-w[1].From); math.Abs(one/two-want) > .05*want {
		t.Errorf("evenly, the bars are %.0f and %.0f wide: %.2f, want %.2f", one, two, one/two, want)
	}
	p.Do(chromedp.Click("#even"))
}

func clickMovesTheCursor(t *testing.T, p *shown) {
	band := p.box(".violation .band")
	p.Do(chromedp.MouseClickXY(band[0]+band[2]/2, band[1]+band[3]/2))
	var at float64
	if _, err := fmt.Sscanf(get[string](p.tab, `document.getElementById("at").textContent`), "%fs", &at); err != nil {
		t.Fatal(err)
	}
	v := p.line.Violation
	if at*1e9 <= float64(v.From) || at*1e9 >= float64(v.To) {
		t.Errorf("the cursor is at %.4fs, the violation is from %d to %d", at, v.From, v.To)
	}
	if current := get[string](p.tab, `document.querySelector("#story [aria-current]").dataset.i`); current != fmt.Sprint(p.granted) {
		t.Errorf("the story is at %s, not at %d", current, p.granted)
	}
}

func filterHidesALane(t *testing.T, p *shown) {
	lane := -1
	for i, l := range p.line.Lanes {
		if l.Name == "D" {
			lane = i
		}
	}
	var to []string
	for i, a := range p.line.Arrows {
		if a.To == lane {
			to = append(to, fmt.Sprintf(`.arrow[data-i="%d"]:not([display="none"])`, i))
		}
	}
	arrows := fmt.Sprintf(`document.querySelectorAll(%q).length`, strings.Join(to, ", "))
	height, before := p.box("#picture")[3], get[int](p.tab, arrows)
	box := fmt.Sprintf(`.filter input[data-lane="%d"]`, lane)
	p.Do(chromedp.Click(box))
	if h := p.box(fmt.Sprintf(`.lane[data-lane="%d"]`, lane))[3]; h != 0 {
		t.Errorf("the lane is %.0f high", h)
	}
	if h := p.box("#picture")[3]; h >= height {
		t.Errorf("the picture is %.0f high, and was %.0f", h, height)
	}
	if n := get[int](p.tab, arrows); n != 0 || before == 0 {
		t.Errorf("%d arrows to it, and %d before", n, before)
	}
	p.Do(chromedp.Click(box))
	if h := p.box("#picture")[3]; h != height {
		t.Errorf("the picture is %.0f high, and was %.0f", h, height)
	}
}

func darkIsChosenOrTheSystems(t *testing.T, p *shown) {
	const background = `getComputedStyle(document.body).backgroundColor`
	light := get[string](p.tab, background)
	p.Do(chromedp.SetValue("#theme", "dark"), chromedp.Evaluate[chromedp.Void](`document.getElementById("theme").dispatchEvent(new Event("change"))`))
	chosen := get[string](p.tab, background)
	system := get[string](open(t, p.browser, p.line, 1280, 800, true), background)
	if light != "rgb(255, 255, 255)" || chosen == light || system != chosen {
		t.Errorf("light %s, chosen dark %s, a dark system %s", light, chosen, system)
	}
}

// At any width, and with whatever is shown, a page fits its window, no text of its picture lies on another or leaves it, and
// there are no errors. It leaves pictures to look at.
func TestPagesFit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	b := browser.Start(t)
	dir := os.Getenv(screenshots)
	if dir == "" && flag.Lookup("test.artifacts").Value.String() == "true" {
		dir = t.ArtifactDir()
	} else if dir != "" {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"17-clock-jump", "32-pause-before-write", "24-restart-at-once/one-of-three", "09-contention", "25-restart-delayed", "69-two-locks/one-breaks",
		"06-failover-to-a-replica", "13-split-votes", "21-suspended-host/monotonic", "20-client-clock-steps-back/wall", "27-crash-after-set/shutdown", "12-holder-dies/crash",
		"112-keys-overwritten/majority", "109-wrong-answers/several-at-once", "47-consensus/clocks-and-restarts", "111-everything-at-once"}
	var p *tab
	for i, name := range names {
		if i%3 != 0 && !longest.All() {
			continue
		}
		_, line := drawn(t, name)
		p = p.turn(t, b, line)
		click := func(box string) bool {
			return get[bool](p, fmt.Sprintf(`(box => { box?.click(); return box !== null; })(document.getElementById(%q))`, box))
		}
		for _, size := range [][2]int64{{390, 844}, {1920, 1080}, {1280, 900}} {
			width := size[0]
			p.Resize(width, size[1])
			p.fits(line, width)
			if n, most := get[float64](p, stepsInView), 1.5*max(12, float64(width)/27); name == "09-contention" && n > most+1 {
				t.Errorf("%s: at %d the picture begins with %v steps, which have room for %.0f", name, width, n, most)
			}
			if click("polling") {
				p.fits(line, width)
			}
			click("polling")
		}
		if line.Violation != nil {
			p.press(kb.Home, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
			p.fits(line, 1280)
		}
		if dir != "" {
			p.shots(filepath.Join(dir, strings.ReplaceAll(name, "/", "_")))
		}
	}
	if len(p.Complaints()) > 0 {
		t.Errorf("the pages complain: %q", p.Complaints())
	}
}

// shots leaves pictures of a page: on a desk and on a phone, light and dark.
func (p *tab) shots(path string) {
	for _, size := range [][2]int64{{390, 844}, {1280, 900}} {
		p.Resize(size[0], size[1])
		for _, scheme := range []string{"dark", "light"} {
			p.Colours(scheme)
			shot, err := chromedp.Run(p.Ctx, chromedp.FullScreenshot(100))
			if err != nil {
				p.T.Fatal(err)
			}
			if err := os.WriteFile(fmt.Sprintf("%s-%d-%s.png", path, size[0], scheme), shot, 0o666); err != nil {
				p.T.Fatal(err)
			}
		}
	}
}

// stepsInView is how many steps of the story lie in the stretch that the picture shows.
const stepsInView = `[...document.querySelectorAll(".step")].filter((e) => {
	const x = e.transform.baseVal.consolidate().matrix.e, clip = document.querySelector("#clip rect").getBBox();
	return x >= clip.x && x <= clip.x + clip.width;
}).length`

// broken is the controls whose text does not stand in one line.
const broken = `[...document.querySelectorAll(".tools label, .tools button, .filter label")].filter((e) => {
	const text = [...e.childNodes].find((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()), range = document.createRange();
	if (!text) return false;
	range.selectNodeContents(text);
	return new Set([...range.getClientRects()].map((r) => r.top)).size > 1;
}).map((e) => e.textContent)`

// fits says what does not fit a window of this width.
func (p *tab) fits(line *Timeline, width int64) {
	p.T.Helper()
	if wide := get[int64](p, `document.documentElement.scrollWidth`); wide > width {
		p.T.Errorf("%s: the page is %d wide on %d", line.Name, wide, width)
	}
	if picture := p.box("#picture"); picture[2] > float64(width) || picture[2] < float64(width)*.65 {
		p.T.Errorf("%s: the picture is %.0f wide on %d", line.Name, picture[2], width)
	}
	if wrong := get[[]string](p, crossing); len(wrong) > 0 {
		p.T.Errorf("%s: at %d %q", line.Name, width, wrong)
	}
	if words := get[[]string](p, broken); len(words) > 0 {
		p.T.Errorf("%s: at %d the texts of these controls are broken: %q", line.Name, width, words)
	}
}

// crossing lists what is wrong with the texts that can be seen in the picture: those that leave it, and pairs of which one lies
// on the other. Of the height of a text a quarter is room for what few letters have.
const crossing = `(() => {
	const view = document.getElementById("picture").getBoundingClientRect(), wrong = [];
	const texts = [...document.querySelectorAll("#picture text")].filter((e) => e.textContent.trim() && !e.closest("#cursor")).map((e) => {
		const b = e.getBoundingClientRect();
		return { text: e.textContent, left: b.left, right: b.right, top: b.top + b.height / 8, bottom: b.bottom - b.height / 8 };
	}).filter((b) => b.right > b.left && b.left < view.right && b.right > view.left);
	for (const [i, a] of texts.entries()) {
		if (a.left < view.left - 1 || a.right > view.right + 1 || a.top < view.top - 1 || a.bottom > view.bottom + 1) wrong.push(a.text + " leaves the picture");
		for (const b of texts.slice(i + 1)) {
			if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) wrong.push(a.text + " lies on " + b.text);
		}
	}
	return wrong;
})()`
