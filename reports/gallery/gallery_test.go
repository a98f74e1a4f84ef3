package gallery_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlocksim/reports/gallery"
)

// A case is a row under its theme, with a mark that leads to the page of its run on each tier; what is foreign is text.
func TestWriteHTML(t *testing.T) {
	jump := &gallery.Entry{Name: "jump", Title: "<b>", Theme: "Clocks <", Thumbnail: `<svg id="1"></svg>`, Runs: []gallery.Run{
		{Tier: "model", Verdict: "two holders", Ending: "breaks, as published", Page: "jump-model.html", AsExpected: true, IsBroken: true},
		{Tier: "wire", Verdict: "two holders", Ending: "breaks, as published", Page: "jump-wire.html", AsExpected: true, IsBroken: true}}}
	pause := &gallery.Entry{Name: "pause", Title: "a pause", Theme: "Pauses", Runs: []gallery.Run{
		{Tier: "model", Verdict: "holds", Ending: "as expected", Page: "pause-model.html", AsExpected: true}}}
	drift := &gallery.Entry{Name: "drift", Title: "a drift", Theme: "Clocks <", Runs: []gallery.Run{
		{Tier: "model", Verdict: "holds", Ending: "as expected", Page: "drift-model.html", AsExpected: true},
		{Tier: "wire", Verdict: "two holders", Ending: "NOT AS EXPECTED", Page: "drift-wire.html", IsBroken: true}}}
	for _, x := range []struct {
		entries []*gallery.Entry
		want    []string
	}{
		{nil, []string{"0 cases, 0 runs, all as expected." + intro}},
		{[]*gallery.Entry{pause}, []string{"1 case, 1 run, all as expected." + intro,
			"# Pauses", "[pause-model.html] | [pause-model.html]pause | holds | as expected, [pause-model.html right]model | a pause"}},
		{[]*gallery.Entry{jump, pause, drift}, []string{"3 cases, 5 runs, 1 not as expected." + intro,
			"[#theme-0]Clocks &lt; 2", "[#theme-1]Pauses 1",
			"# Clocks &lt;",
			"[jump-model.html]<svg id=\"1\"></svg> | [jump-model.html]jump | two holders | breaks, as published, [jump-model.html known]model [jump-wire.html known]wire | &lt;b&gt;",
			"[drift-model.html] | [drift-model.html]drift | model: holds, wire: two holders | [drift-model.html right]model [drift-wire.html wrong]wire: no | a drift",
			"# Pauses", "[pause-model.html] | [pause-model.html]pause | holds | as expected, [pause-model.html right]model | a pause"}},
	} {
		var b strings.Builder
		if err := gallery.WriteHTML(&b, x.entries); err != nil {
			t.Fatal(err)
		}
		if got := told(b.String()); !slices.Equal(got, x.want) {
			t.Errorf("%d entries:\n%s\nwant\n%s", len(x.entries), strings.Join(got, "\n"), strings.Join(x.want, "\n"))
		}
		for _, text := range []string{"<!DOCTYPE html>", "<title>redlocksim suite</title>", `<meta http-equiv="Content-Security-Policy"`} {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%d entries: no %s", len(x.entries), text)
			}
		}
	}
}

// intro is what each page says of its pictures.
const intro = " ✓ the lock holds; ◆ it breaks or is stuck, as the scenario is there to show; ✗ not as expected. " +
	"A picture has a row for each client and node, and a frame marks where the lock breaks."

var (
	part = regexp.MustCompile(`(?s)<p>.*?</p>|<li>.*?</li>|<h2>.*?</h2>|<tr><td>.*?</tr>`)
	link = regexp.MustCompile(`<a href="([^"]*)"(?: class="(\w+)"| tabindex="-1" aria-hidden="true")?>(.*?)</a>`)
	tags = regexp.MustCompile(`</?(?:p|li|tr|td)\b[^>]*>`)
)

// told is what a page tells: its first line, and its headings and rows. A link is in brackets, with its class.
func told(page string) (all []string) {
	for _, text := range part.FindAllString(page, -1) {
		text = link.ReplaceAllString(text, "[$1 $2]$3")
		text = strings.NewReplacer(" ]", "]", "<h2>", "# ", "</h2>", "", "<br>", ", ", "\n", "", "</td><td", " | <td").Replace(strings.ReplaceAll(text, "</td>\n", "</td>"))
		all = append(all, strings.TrimSpace(strings.ReplaceAll(tags.ReplaceAllString(text, ""), "  ", " ")))
	}
	return all
}
