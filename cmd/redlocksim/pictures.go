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

	"redlocksim/internal/shell"
	"redlocksim/reports"
	"redlocksim/reports/gallery"
	"redlocksim/reports/timeline"
	"redlocksim/scenarios"
	"redlocksim/search"
)

// drawPage writes the timeline of a run, which is made once more for that, as a page.
func drawPage(to *sink, flag, path string, r *scenarios.Result, repeat string) error {
	page, err := pageOf(r, repeat)
	if err != nil {
		return err
	}
	return to.put(file(flag, path), page)
}

// pageOf is the timeline of a run as a page.
func pageOf(r *scenarios.Result, repeat string) ([]byte, error) {
	t, err := (&judged{Result: r, repeat: repeat}).drawn()
	if err != nil {
		return nil, wrap(err)
	}
	var b bytes.Buffer
	if err := timeline.WriteHTML(&b, t); err != nil {
		return nil, wrap(err)
	}
	return b.Bytes(), nil
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

// drawSuite writes a page for each run into a directory, and one that leads to them.
func (s *suite) drawSuite(cmd *cobra.Command, to *sink) error {
	if err := os.MkdirAll(s.html, 0o777); err != nil {
		return cannotWrite("--html", err)
	}
	var entries []*gallery.Entry
	bar := newTicker(cmd.ErrOrStderr(), len(s.results))
	defer bar.done()
	ran := slices.DeleteFunc(slices.Clone(s.cases), func(c reports.Case) bool { return c.Skipped != "" }) // as in results
	var failed error
	for i, r := range s.results {
		name := pageName(r.Scenario, r.Tier)
		page, thumbnail, err := drawnOf(r, ran[i].Repeat)
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("the page of %s on tier %s, seed %d: %w", r.Scenario.Name, r.Tier, r.Seed, err))
			r = scenarios.FailedRun(r.Scenario, scenarios.Options{Tier: r.Tier, Seed: r.Seed}, err)
		}
		if page == nil { // there is nothing to draw
			name = ""
		} else if err := to.put(file("--html", filepath.Join(s.html, name)), page); err != nil {
			return err
		}
		if len(entries) == 0 || entries[len(entries)-1].Name != r.Scenario.Name { // the runs of a case follow each other
			entries = append(entries, &gallery.Entry{Name: r.Scenario.Name, Title: r.Scenario.Title, Theme: r.Scenario.Theme.Title(),
				Thumbnail: thumbnail})
		}
		last := entries[len(entries)-1]
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

// drawnOf is a run as a page and as a small image; nothing of one without a verdict.
func drawnOf(r *scenarios.Result, repeat string) (page []byte, thumbnail template.HTML, err error) {
	if r.Lost() {
		return nil, "", nil
	}
	err = search.Safely(func() error {
		t, err := (&judged{Result: r, repeat: repeat}).drawn()
		if err != nil {
			return err
		}
		var b bytes.Buffer
		var image strings.Builder
		if err := cmp.Or(timeline.WriteHTML(&b, t), timeline.WriteThumbnail(&image, t)); err != nil {
			return err
		}
		page, thumbnail = b.Bytes(), template.HTML(image.String())
		return nil
	})
	return page, thumbnail, err
}

// indexPage leads to the pages of a suite.
const indexPage = "index.html"

// pageName is what the page of a run is called.
func pageName(s *scenarios.Scenario, on scenarios.Tier) string {
	return strings.ReplaceAll(s.Name, "/", "-") + "-" + string(on) + ".html"
}

// pages says which names drawSuite writes.
func (s *suite) pages(on []scenarios.Tier) func(name string) bool {
	names := map[string]bool{indexPage: true}
	for _, one := range s.chosen {
		for _, tier := range on {
			names[pageName(one.Scenario, tier)] = true
		}
	}
	return func(name string) bool { return names[name] }
}
