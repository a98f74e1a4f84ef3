package reports_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlocksim/reports"
	"redlocksim/scenarios"
)

// A case is a row under its theme, with a mark that leads to the page of its run on each tier; what is foreign is text.
func TestGallery(t *testing.T) {
	themes := scenarios.Themes()
	run := func(name, title string, theme scenarios.Theme, tier, verdict, word, ending string) reports.Drawn {
		return reports.Drawn{Page: name + "-" + tier + ".html", Case: &reports.Case{Name: name, Title: title, Theme: theme, Tier: tier, Says: verdict,
			Word: word, Ending: ending, OK: ending != "NOT AS EXPECTED"}}
	}
	jump := run("jump", "<b>", themes[0], "model", "two holders", "breaks", "breaks, as published")
	jump.Thumbnail = `<svg id="1"></svg>`
	jumps := []reports.Drawn{jump, run("jump", "<b>", themes[0], "wire", "two holders", "breaks", "breaks, as published")}
	pauses := []reports.Drawn{run("pause", "a pause", themes[1], "model", "holds", "holds", "as expected")}
	drifts := []reports.Drawn{run("drift", "a drift", themes[0], "model", "holds", "holds", "as expected"),
		run("drift", "a drift", themes[0], "wire", "two holders", "breaks", "NOT AS EXPECTED")}
	clocks, paused := themes[0].Title(), themes[1].Title()
	for _, x := range []struct {
		runs []reports.Drawn
		want []string
	}{
		{nil, []string{"0 cases, 0 runs, all as expected." + intro}},
		{pauses, []string{"1 case, 1 run, all as expected." + intro,
			"# " + paused, "[pause-model.html] | [pause-model.html]pause | holds | as expected, [pause-model.html right]model | a pause"}},
		{slices.Concat(jumps, pauses, drifts), []string{"3 cases, 5 runs, 1 not as expected." + intro,
			"[#theme-0]" + clocks + " 2", "[#theme-1]" + paused + " 1",
			"# " + clocks,
			"[jump-model.html]<svg id=\"1\"></svg> | [jump-model.html]jump | two holders | breaks, as published, [jump-model.html known]model [jump-wire.html known]wire | &lt;b&gt;",
			"[drift-model.html] | [drift-model.html]drift | model: holds, wire: two holders | [drift-model.html right]model [drift-wire.html wrong]wire: no | a drift",
			"# " + paused, "[pause-model.html] | [pause-model.html]pause | holds | as expected, [pause-model.html right]model | a pause"}},
	} {
		var b strings.Builder
		if err := reports.Gallery(&b, x.runs); err != nil {
			t.Fatal(err)
		}
		if got := toldOf(b.String()); !slices.Equal(got, x.want) {
			t.Errorf("%d runs:\n%s\nwant\n%s", len(x.runs), strings.Join(got, "\n"), strings.Join(x.want, "\n"))
		}
		for _, text := range []string{"<!DOCTYPE html>", "<title>redlocksim suite</title>", `<meta http-equiv="Content-Security-Policy"`} {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%d runs: no %s", len(x.runs), text)
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

// toldOf is what a page tells: its first line, and its headings and rows. A link is in brackets, with its class.
func toldOf(page string) (all []string) {
	for _, text := range part.FindAllString(page, -1) {
		text = link.ReplaceAllString(text, "[$1 $2]$3")
		text = strings.NewReplacer(" ]", "]", "<h2>", "# ", "</h2>", "", "<br>", ", ", "\n", "", "</td><td", " | <td").Replace(strings.ReplaceAll(text, "</td>\n", "</td>"))
		all = append(all, strings.TrimSpace(strings.ReplaceAll(tags.ReplaceAllString(text, ""), "  ", " ")))
	}
	return all
}
