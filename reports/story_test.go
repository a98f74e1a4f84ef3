package reports_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlocksim/redlock/observe"
	"redlocksim/reports/story"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

var update = flag.Bool("update", false, "write the stories as they are now; read them before you commit them")

// maxLines keeps a transcript readable. What a long story has beyond it is the same over and over.
const maxLines = 70

// transcript is what is kept of a run: the story and the verdict. The hashes are not in it, so that a change that leaves
// the story alone leaves the transcript alone.
func transcript(r *verdict.Result) string {
	var b strings.Builder
	lines := story.Of(r.History, r.Monitored...)
	for i, l := range lines {
		if i == maxLines {
			fmt.Fprintf(&b, "… %d more lines\n", len(lines)-i)
			break
		}
		fmt.Fprintf(&b, "%3d %v\n", i+1, l)
	}
	fmt.Fprintf(&b, "verdict %s\n", r.Verdict())
	return b.String()
}

// isUntold says that an event is a step of the protocol alone, with a sentence that no story tells.
func isUntold(name protocols.Name, e *history.Event) bool {
	p, _ := protocols.Find(name)
	isLibrarys := slices.ContainsFunc(observe.Steps(), func(s observe.Step) bool { return s.String() == e.Name })
	return e.Kind == history.Step && e.Detail != "" && slices.Contains(p.Steps, e.Name) && !isLibrarys &&
		e.Name != "rolled-back" && // its detail is the database's reason, and no sentence
		!protocols.IsSentence(e.Name)
}

// The story of each scenario's first case is pinned: reviewed once against the source that its file cites, it must not change
// unseen. The other cases vary it.
func TestStories(t *testing.T) {
	kept, last := map[string]bool{}, ""
	for _, s := range scenarios.Catalogue() {
		r := scenariotest.Judged(t, s, scenarios.Options{})
		for i := range r.History {
			if e := &r.History[i]; isUntold(s.Lock.Protocol, e) {
				t.Errorf("%s: the story does not tell that %s %s: step %s is not among the Sentences of its protocol",
					s.Name, e.Process, e.Detail, e.Name)
				break
			}
		}
		file, _, _ := strings.Cut(s.Name, "/")
		if file == last {
			continue
		}
		last = file
		path := filepath.Join("testdata", "stories", file+".txt")
		kept[path] = true
		got := transcript(r)
		if *update {
			if !r.OK() {
				t.Errorf("%s is not written: the verdict of %s is %s, and its file expects %s", path, s.Name, r.Verdict(), s.Expect)
				continue
			}
			if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v (go test ./reports -update writes it)", err)
		} else if string(want) != got {
			t.Errorf("%s: the story is\n%s\nand was\n%s", s.Name, got, want)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "stories", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !kept[f] {
			t.Errorf("%s is of no scenario", f)
		}
	}
}
