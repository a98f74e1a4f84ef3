package foreign

import (
	"fmt"
	"strings"

	"redlocksim/internal/plural"
)

// notUnderstood is what a note calls fields that mean nothing here.
const notUnderstood = "fields that are not understood, and not used"

// maxNoticed bounds the names in a note.
const maxNoticed = 10

// notice is something that was read and not used, with the line where it stands first.
type notice struct {
	name  string
	first position
	lines int
}

// notices are grouped by what is said of them, in the order in which they were found.
type notices struct {
	what []string
	of   map[string][]notice
}

// notice remembers that a field or word was not used.
func (r *reader) notice(what, prefix string, name []byte, line int) {
	all, known := r.unused.of[what]
	if !known {
		r.unused.what = append(r.unused.what, what)
	}
	for i := range all {
		if rest, is := strings.CutPrefix(all[i].name, prefix); is && rest == string(name) {
			all[i].lines++
			return
		}
	}
	if len(all) <= maxNoticed && len(name) <= maxName {
		at := position{max(0, int32(len(r.r.files))-1), int32(line)}
		r.unused.of[what] = append(all, notice{prefix + string(name), at, 1})
	}
}

// notes tells what was not used.
func (r *reader) notes() (notes []string) {
	for _, what := range r.unused.what {
		var names []string
		for i, n := range r.unused.of[what] {
			if i == maxNoticed {
				names = append(names, "…")
				break
			}
			first := r.r.onLine(n.first.file, n.first.line, noIndex)
			names = append(names, fmt.Sprintf("%.40q (%s, first on %s)", n.name, plural.Count(n.lines, "line"), first))
		}
		notes = append(notes, what+": "+strings.Join(names, ", "))
	}
	return notes
}
