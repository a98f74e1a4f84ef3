package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"redlocksim/internal/page"
	"redlocksim/internal/shell"
	"redlocksim/reports"
	"redlocksim/reports/timeline"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
)

// drawPage writes the timeline of a run, which is made once more for that, as a page.
func drawPage(to *sink, flag, path string, r *verdict.Result, repeat string) error {
	var b bytes.Buffer
	if err := drawnBy(timeline.WriteHTML)(&b, &judged{Result: r, repeat: repeat}); err != nil {
		return wrap(err)
	}
	return to.put(file(flag, path), b.Bytes())
}

// drawFindings writes the timelines of what a search found beside its files. They name them without the directory, so that
// the same search gives the same pages wherever it was made.
func drawFindings(to *sink, s *reports.Searched) error {
	for i := range s.Findings {
		f := &s.Findings[i]
		if f.File == "" {
			continue
		}
		path := filepath.Join(s.Dir, f.File)
		all, err := scenarios.Load(path)
		if err != nil {
			return wrap(err)
		}
		r, err := verdict.Judge(all[0], scenarios.Options{Seed: f.Seed, Foreign: s.Foreign})
		if err != nil {
			return wrap(err)
		}
		if err := drawPage(to, "--dir", strings.TrimSuffix(path, ".yaml")+".html", r, "redlocksim run "+shell.Quote(f.File)+s.With); err != nil {
			return err
		}
	}
	return nil
}

// drawSuite writes a page for each case into a directory, one that leads to them, and what they share.
func (s *suite) drawSuite(cmd *cobra.Command, to *sink) error {
	if err := putShared(to, s.html); err != nil {
		return err
	}
	bar := newTicker(cmd.ErrOrStderr(), len(s.results))
	defer bar.done()
	ran := slices.DeleteFunc(slices.Clone(s.cases), func(c reports.Case) bool { return c.Skipped != "" }) // as in results
	var drawn []reports.Drawn
	var failed error
	first := 0 // the first run of the case
	for i, r := range s.results {
		if s.results[first].Scenario.Name != r.Scenario.Name {
			first = i
		}
		d := reports.Drawn{Case: &ran[i]}
		for j := first; j < i; j++ {
			if d.Page == "" && showTheSame(s.results[j], r) {
				d.Page, d.Thumbnail = drawn[j].Page, drawn[j].Thumbnail
			}
		}
		if d.Page == "" {
			text, thumbnail, err := drawnOf(r, d.Repeat, s.results[i+1:])
			if err != nil {
				failed = cmp.Or(failed, fmt.Errorf("the page of %s on tier %s, seed %d: %w", r.Scenario.Name, r.Tier, r.Seed, err))
				ran[i], _ = reports.NewCase(verdict.FailedRun(r.Scenario, scenarios.Options{Tier: r.Tier, Seed: r.Seed}, err), d.Repeat, 0)
			}
			if text != nil { // there is something to draw
				d.Page, d.Thumbnail = pageName(r.Scenario, r.Tier, i > first), thumbnail
				if err := to.put(file("--html", filepath.Join(s.html, d.Page)), text); err != nil {
					return err
				}
			}
		}
		drawn = append(drawn, d)
		bar.tick()
	}
	var b bytes.Buffer
	if err := reports.Gallery(&b, drawn); err != nil {
		return wrap(err)
	}
	if err := to.put(file("--html", filepath.Join(s.html, indexPage)), b.Bytes()); err != nil {
		return err
	}
	return wrap(failed)
}

// putShared makes a directory for pages, with the files that they share.
func putShared(to *sink, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return cannotWrite("--html", err)
	}
	for name, data := range page.Shared() {
		if err := to.put(file("--html", filepath.Join(dir, name)), data); err != nil {
			return err
		}
	}
	return nil
}

// showTheSame says that runs of a case on two tiers have one page. On tier live there is no hash, and each run is another.
func showTheSame(a, b *verdict.Result) bool {
	return a.Scenario.Name == b.Scenario.Name && a.HistoryHash != "" && a.HistoryHash == b.HistoryHash && a.Says() == b.Says() && a.Ending() == b.Ending()
}

// drawnOf is a run as a page of a directory and as a small image; nothing of one without a verdict. The page says on which
// tiers the next runs show the same.
func drawnOf(r *verdict.Result, repeat string, next []*verdict.Result) (text []byte, thumbnail template.HTML, err error) {
	if r.Lost() {
		return nil, "", nil
	}
	err = search.Safely(func() error {
		t, err := (&judged{Result: r, repeat: repeat}).drawn()
		if err != nil {
			return err
		}
		var also []string
		for _, o := range next {
			if showTheSame(r, o) {
				also = append(also, string(o.Tier))
			}
		}
		if also != nil {
			t.Run += ", and the same on tier " + strings.Join(also, ", ")
		}
		var b bytes.Buffer
		var image strings.Builder
		if err := cmp.Or(timeline.WriteSharedHTML(&b, t), timeline.WriteThumbnail(&image, t)); err != nil {
			return err
		}
		text, thumbnail = b.Bytes(), template.HTML(image.String())
		return nil
	})
	return text, thumbnail, err
}

// indexPage leads to the pages of a suite.
const indexPage = "index.html"

// pageName is what the page of a case is called, and that of a run on a tier whose history is another.
func pageName(s *scenarios.Scenario, on scenarios.Tier, isOther bool) string {
	name := strings.ReplaceAll(s.Name, "/", "-")
	if isOther {
		name += "-" + string(on)
	}
	return name + ".html"
}

// pages says which names drawSuite writes.
func (s *suite) pages(on []scenarios.Tier) func(name string) bool {
	names := map[string]bool{indexPage: true}
	for name := range page.Shared() {
		names[name] = true
	}
	for _, one := range s.chosen {
		for _, tier := range on {
			names[pageName(one.Scenario, tier, false)], names[pageName(one.Scenario, tier, true)] = true, true
		}
	}
	return func(name string) bool { return names[name] }
}
