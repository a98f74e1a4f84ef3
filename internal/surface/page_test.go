package surface_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	pageFile = root + "/docs/surface.md"
	head     = `# What scenarios use of the library

Each exported call and option of [redlock](../redlock), [redlock/semaphore](../redlock/semaphore) and
[redlock/goredis](../redlock/goredis), and the [scenario files](../scenarios/files) that use it on tier model or wire. A call
counts if something else than the library itself makes it; an option, or a field of one, if it is set to something else than its
default.

` + "`go test ./internal/surface`" + ` fails for a call or an option that no scenario uses, unless the table says why. With ` + "`-update`" + `
it runs all scenarios and writes this page, with ` + "`-measure`" + ` it runs them and compares.

| | scenario files |
|---|---|
`
	everyFile = "all"
)

// page is what docs/surface.md says: which files of the catalogue there are, and which of them use each name.
type page struct {
	files []string
	used  map[string][]string
}

func (p page) String() string {
	var b strings.Builder
	b.WriteString(head)
	fmt.Fprintf(&b, "| %s | %s |\n", everyFile, ranges(p.files, p.files))
	for _, name := range slices.Sorted(maps.Keys(p.used)) {
		cell := ranges(p.used[name], p.files)
		if len(p.used[name]) == 0 {
			cell = "none: " + without[name]
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, cell)
	}
	return b.String()
}

// parse is the counterpart of String, for the files that there are.
func parse(text string, files []string) (p page, err error) {
	body, is := strings.CutPrefix(text, head)
	if !is {
		return p, fmt.Errorf("%s has another head", pageFile)
	}
	p.used = map[string][]string{}
	for line := range strings.Lines(body) {
		name, cell, _ := strings.Cut(strings.Trim(line, "| \n"), " | ")
		name = strings.Trim(name, "`")
		if _, twice := p.used[name]; twice {
			return p, fmt.Errorf("%s has two rows for %s", pageFile, name)
		}
		p.used[name] = nil
		if strings.HasPrefix(cell, "none: ") {
			continue
		}
		if p.used[name], err = expand(cell, files); err != nil {
			return p, fmt.Errorf("%s: %w", name, err)
		}
	}
	p.files = p.used[everyFile]
	delete(p.used, everyFile)
	return p, nil
}

// problems is what is wrong with the page: names are to be in it, all is the files that there are, and set what is known of
// settings without a run.
func (p page) problems(names, all []string, set map[string][]string) (found []string) {
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if !slices.Equal(p.files, all) {
		add("the page was written of files %v, and there are %v", ranges(p.files, p.files), ranges(all, all))
	}
	for _, name := range slices.Sorted(maps.Keys(p.used)) {
		if !slices.Contains(names, name) {
			add("the page has %s, which is not exported", name)
		}
	}
	for _, name := range names {
		files, there := p.used[name]
		_, excused := without[name]
		of, isSetting := set[name]
		switch {
		case !there:
			add("the page has no row for %s", name)
		case excused && len(files) > 0:
			add("%s is used by %v, and there is a reason why it is not", name, files)
		case !excused && len(files) == 0:
			add("no scenario uses %s: write one, or say why there is none", name)
		case isSetting && !slices.Equal(of, files):
			add("%s is set in %v, and not in %v", name, of, files)
		}
	}
	for name := range without {
		if !slices.Contains(names, name) {
			add("there is a reason why no scenario uses %s, which is not exported", name)
		}
	}
	return found
}

// ranges lists some of the files, with a dash between the first and the last of three or more that follow each other.
func ranges(some, all []string) string {
	var words []string
	for i := 0; i < len(all); {
		n := 0
		for i+n < len(all) && slices.Contains(some, all[i+n]) {
			n++
		}
		switch {
		case n >= 3:
			words = append(words, all[i]+"–"+all[i+n-1])
		case n > 0:
			words = append(words, all[i:i+n]...)
		}
		i += n + 1
	}
	return strings.Join(words, ", ")
}

// expand is the counterpart of ranges.
func expand(text string, all []string) (some []string, err error) {
	for _, word := range strings.Fields(strings.ReplaceAll(text, ",", " ")) {
		first, last, _ := strings.Cut(word, "–")
		if last == "" {
			last = first
		}
		from, to := slices.Index(all, first), slices.Index(all, last)
		if from < 0 || to < from {
			return nil, fmt.Errorf("there are no scenario files %s", word)
		}
		some = append(some, all[from:to+1]...)
	}
	return some, nil
}

// The page is read back as it was written, and tells what is wrong with it.
func TestPage(t *testing.T) {
	all := []string{"01", "02", "03", "04", "06", "boundaries"}
	p := page{all, map[string][]string{"Client.Lock": {"01", "02", "03", "06"}, "Error.Error": nil, "WithQuorum": {"04"}}}
	for _, row := range []string{"| all | 01–boundaries |\n", "| `Client.Lock` | 01–03, 06 |\n", "| `WithQuorum` | 04 |\n", "| `Error.Error` | none: hist"} {
		if !strings.Contains(p.String(), row) {
			t.Errorf("no %q in\n%s", row, p)
		}
	}
	back, err := parse(p.String(), all)
	if err != nil || !slices.Equal(back.files, p.files) || !maps.EqualFunc(back.used, p.used, slices.Equal) {
		t.Errorf("%v, not %v, %v", back, p, err)
	}
	if _, err := parse(p.String(), slices.Delete(slices.Clone(all), 4, 5)); err == nil || !strings.Contains(err.Error(), "Client.Lock: there are no scenario files 06") {
		t.Errorf("of a file that is gone: %v", err)
	}
	names := []string{"Client.Lock", "Client.Close", "WithQuorum"}
	p.used["WithQuorum"] = nil
	found := strings.Join(p.problems(names, append(all, "new"), map[string][]string{"Client.Lock": {"01"}}), "\n")
	for _, problem := range []string{"and there are 01–new", "the page has Error.Error, which is not exported", "no row for Client.Close",
		"no scenario uses WithQuorum", "Client.Lock is set in [01], and not in [01 02 03 06]"} {
		if !strings.Contains(found, problem) {
			t.Errorf("no %q in\n%s", problem, found)
		}
	}
}
