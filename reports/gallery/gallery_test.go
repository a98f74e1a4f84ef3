package gallery_test

import (
	"strings"
	"testing"

	"redlocksim/reports/gallery"
)

// Of no runs, one and several; what is foreign is text, and one that is not as expected is counted and marked.
func TestWriteHTML(t *testing.T) {
	good := gallery.Entry{Name: "a", Title: "<b>", Tier: "model", Theme: "Clocks <", Thumbnail: "<svg></svg>", Verdict: "safe", Page: "a-model.html", AsExpected: true}
	bad := gallery.Entry{Name: "b", Tier: "wire", Verdict: "lease-overlap", Page: "b-wire.html"}
	for _, x := range []struct {
		entries []gallery.Entry
		has     []string
	}{
		{nil, []string{"<p>0 runs, all as expected.</p>"}},
		{[]gallery.Entry{good}, []string{"<p>1 run, all as expected.</p>", `<a href="a-model.html">a</a>`, "<td>&lt;b&gt;</td>", "<h2>Clocks &lt;</h2>", `aria-hidden="true"><svg></svg></a>`, `<td class="right">yes</td>`}},
		{[]gallery.Entry{good, bad, bad}, []string{"<p>3 runs, 2 not as expected.</p>", `<td class="wrong">no</td>`}},
	} {
		var b strings.Builder
		if err := gallery.WriteHTML(&b, x.entries); err != nil {
			t.Fatal(err)
		}
		for _, text := range append(x.has, "<!DOCTYPE html>", "<title>redlocksim suite</title>", `<meta http-equiv="Content-Security-Policy"`) {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%d entries: no %s in\n%s", len(x.entries), text, &b)
			}
		}
	}
}
