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
	"redlocksim/reports/gallery"
	"redlocksim/reports/timeline"
	"redlocksim/scenarios"
	"redlocksim/search"
)

// drawPage writes the timeline of a run, which is made once more for that, as a page.
func drawPage(to *sink, flag, path string, r *scenarios.Result, repeat string) error {
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
		r, err := scenarios.Judge(all[0], scenarios.Options{Seed: f.Seed, Foreign: s.Foreign})
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
	var entries []*gallery.Entry
	bar := newTicker(cmd.ErrOrStderr(), len(s.results))
	defer bar.done()
	ran := slices.DeleteFunc(slices.Clone(s.cases), func(c reports.Case) bool { return c.Skipped != "" }) // as in results
	var failed error
	of := map[showing]string{} // the pages of the last case
	for i, r := range s.results {
		if len(entries) == 0 || entries[len(entries)-1].Name != r.Scenario.Name { // the runs of a case follow each other
			entries = append(entries, &gallery.Entry{Name: r.Scenario.Name, Title: r.Scenario.Title, Theme: r.Scenario.Theme.Title()})
			clear(of)
		}
		last := entries[len(entries)-1]
		name := of[shownBy(r)]
		if name == "" {
			text, thumbnail, err := drawnOf(r, ran[i].Repeat, alike(s.results[i:])...)
			if err != nil {
				failed = cmp.Or(failed, fmt.Errorf("the page of %s on tier %s, seed %d: %w", r.Scenario.Name, r.Tier, r.Seed, err))
				r = scenarios.FailedRun(r.Scenario, scenarios.Options{Tier: r.Tier, Seed: r.Seed}, err)
			}
			if text != nil { // there is something to draw
				name = pageName(r.Scenario, r.Tier, len(last.Runs) > 0)
				if err := to.put(file("--html", filepath.Join(s.html, name)), text); err != nil {
					return err
				}
				last.Thumbnail = cmp.Or(last.Thumbnail, thumbnail)
			}
			if r.HistoryHash != "" { // on tier live there is none, and each run is another
				of[shownBy(r)] = name
			}
		}
		last.Runs = append(last.Runs, gallery.Run{Tier: string(r.Tier), Verdict: r.Says(), Ending: r.Ending(), Page: name, AsExpected: r.OK(), IsBroken: r.IsBroken()})
		bar.tick()
	}
	var b bytes.Buffer
	if err := gallery.WriteHTML(&b, entries); err != nil {
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

// showing is what a page shows: runs of a case on several tiers that show the same have one.
type showing struct{ history, verdict, ending string }

func shownBy(r *scenarios.Result) showing { return showing{r.HistoryHash, r.Says(), r.Ending()} }

// alike are the other tiers on which the first of some runs showed the same.
func alike(results []*scenarios.Result) (on []string) {
	for _, r := range results[1:] {
		if r.Scenario.Name == results[0].Scenario.Name && r.HistoryHash != "" && shownBy(r) == shownBy(results[0]) {
			on = append(on, string(r.Tier))
		}
	}
	return on
}

// drawnOf is a run as a page of a directory and as a small image; nothing of one without a verdict. also are the other tiers
// on which it was the same.
func drawnOf(r *scenarios.Result, repeat string, also ...string) (text []byte, thumbnail template.HTML, err error) {
	if r.Lost() {
		return nil, "", nil
	}
	err = search.Safely(func() error {
		t, err := (&judged{Result: r, repeat: repeat}).drawn()
		if err != nil {
			return err
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
