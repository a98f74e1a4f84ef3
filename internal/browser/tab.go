package browser

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Tab is a page in a browser, under Ctx.
type Tab struct {
	T   testing.TB
	Ctx context.Context

	isOurs    func(url string) bool
	mu        sync.Mutex
	url       string
	complains []string
}

// Open opens a page in a window of this size, in the colours for scheme, which is light or dark. isOurs says what else it may
// ask for, beside the page itself and what is in it.
func Open(t testing.TB, in context.Context, url string, width, height int64, scheme string, isOurs func(url string) bool) *Tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(in)
	t.Cleanup(stop)
	p := &Tab{T: t, Ctx: ctx, isOurs: isOurs}
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	p.Colours(scheme)
	p.Do(chromedp.EmulateViewport(width, height))
	p.Go(url)
	return p
}

// Go goes to another page, which keeps the size and the colours.
func (p *Tab) Go(url string) {
	p.T.Helper()
	p.mu.Lock()
	p.url = url
	p.mu.Unlock()
	p.Do(chromedp.Navigate(url))
}

func (p *Tab) listen(event any) {
	text := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.mu.Lock()
		page := p.url
		p.mu.Unlock()
		if u := e.Request.URL; u != page && !p.isOurs(u) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "about:") {
			text = "request for " + u
		}
	case *runtime.EventExceptionThrown:
		text = fmt.Sprintf("%+v", e.ExceptionDetails)
	case *runtime.EventConsoleAPICalled:
		text = fmt.Sprintf("console.%s", e.Type)
	case *log.EventEntryAdded:
		text = e.Entry.Text
	}
	if text != "" {
		p.mu.Lock()
		p.complains = append(p.complains, text)
		p.mu.Unlock()
	}
}

// Colours are those that the page is shown in from now on: light or dark.
func (p *Tab) Colours(scheme string) {
	p.T.Helper()
	if _, err := chromedp.Call(p.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
		p.T.Fatal(err)
	}
}

// Resize gives the window another size, and waits until the page has been drawn in it.
func (p *Tab) Resize(width, height int64) {
	p.T.Helper()
	p.Do(chromedp.EmulateViewport(width, height))
	Get[bool](p, `new Promise((drawn) => requestAnimationFrame(() => setTimeout(() => drawn(true))))`, chromedp.EvalAwaitPromise)
}

// Complaints are the errors of the page so far, what it wrote to its console, and its requests for what is not its own.
func (p *Tab) Complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.complains...)
}

// Do acts in the page.
func (p *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.T.Helper()
	if err := chromedp.Do(p.Ctx, actions...); err != nil {
		p.T.Fatal(err)
	}
}

// Get evaluates an expression in the page.
func Get[V any](p *Tab, expression string, options ...chromedp.EvaluateOption) V {
	p.T.Helper()
	v, err := chromedp.Run(p.Ctx, chromedp.Evaluate[V](expression, options...))
	if err != nil {
		p.T.Fatalf("%.200s: %v", expression, err)
	}
	return v
}
