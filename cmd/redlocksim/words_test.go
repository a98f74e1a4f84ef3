package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlocksim/checker"
	"redlocksim/internal/built"
)

// kindsOf are the kinds of findings by their words, from the page, which has them all.
func kindsOf(t *testing.T) map[string]checker.Word {
	t.Helper()
	page, err := os.ReadFile("../../docs/checker.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]checker.Word{}
	for _, row := range regexp.MustCompile(`(?m)^\| \*\*(.+?)\*\* \| (.+?) \|`).FindAllStringSubmatch(string(page), -1) {
		for _, kind := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			kinds[kind[1]] = checker.Word(row[1])
		}
	}
	delete(kinds, string(checker.NotTested)) // which is its word
	if len(kinds) < 16 {
		t.Fatalf("the page has only the kinds %v", kinds)
	}
	return kinds
}

// bare are the kinds of findings that a text has without their words, with what stands around them. Files are named by kinds,
// an observation has no word beside one that is worse, and some kinds are also words of English.
func bare(kinds map[string]checker.Word, text string) []string {
	text = strings.Join(strings.Fields(text), " ")
	all := "(?:" + strings.Join(slices.Sorted(maps.Keys(kinds)), "|") + ")"
	for _, w := range checker.Words() {
		text = regexp.MustCompile(string(w)+`(?: [^ ,:;()]+| and)* \(`+all+`(?:, `+all+`)*\)`).ReplaceAllString(text, string(w))
	}
	text = regexp.MustCompile(`[0-9]-`+all+`[-a-z0-9]*\b`).ReplaceAllString(text, "FILE")
	var found []string
	for _, at := range regexp.MustCompile(`\b`+all+`\b`).FindAllStringIndex(text, -1) {
		around := text[max(0, at[0]-40):min(len(text), at[1]+40)]
		isEnglish := !strings.Contains(text[at[0]:at[1]], "-") && !strings.HasPrefix(text[at[1]:], ":") && !strings.HasPrefix(text[at[1]:], ")")
		if kinds[text[at[0]:at[1]]] != checker.Holds && !isEnglish {
			found = append(found, around)
		}
	}
	return found
}

// wordsInputs are files for the commands that tell of findings, tellsOfFindings, which write others.
var wordsInputs = map[string]string{
	"settings.yaml": "lock: {drift: {factor: 0%, constant: 0s}, fencing: true}\nbudget: {clock-rate: 20%}\n",
	"messy.yaml":    "lock: {protocol: redlock-plain, cleanup: none}\n",
	"answers.yaml":  "library: redsync\nttl: 8s\nrestart-delay: 5s\npause: 500ms\n",
	"known.yaml":    "ttl: 10s\npause: 800ms\n",
	"history.jsonl": `{"process":"a","type":"invoke","f":"acquire"}
{"process":"a","type":"ok","f":"acquire","value":7}
{"process":"b","type":"invoke","f":"acquire"}
{"process":"b","type":"ok","f":"acquire","value":7}
{"process":"c","type":"invoke","f":"release"}
{"process":"c","type":"ok","f":"release"}
`,
}

var tellsOfFindings = []struct{ command, file string }{
	{"list --filter -", ""},
	{"run 16-failed-acquire-cleans-up-with-del/parallel --full", ""},
	{"run 17-clock-jump --why", ""},
	{"run 90-failed-attempt-leaves-its-votes --why", ""},
	{"suite --filter ^(04|17|32|90|103)- -v --tier model --markdown suite.md", "suite.md"},
	{"suite --lock naive.wasm --filter ^70- --json naive.json", ""},
	{"suite --lock naive.wasm --filter ^(58|70)- --baseline naive.json", ""},
	{"check --model owner history.jsonl", ""},
	{"check --model fenced history.jsonl", ""},
	{"sweep restart --axis lock.ttl=10s --axis budget.restart-delay=9s,10s --html sweep.html", "sweep.html"},
	{"sweep pause --frontier --axis lock.ttl=5s --axis adversary.pause=4s", ""},
	{"audit known.yaml --suggest", ""},
	{"audit answers.yaml --show 5", ""},
	{"explore settings.yaml --seeds 20 --dir found --markdown found.md", "found.md"},
	{"explore messy.yaml --orders --late 0 --limit 60", ""},
}

// No command tells people of a finding by its kind alone, whatever it found: the word comes first, and says what it is to them.
func TestNoKindWithoutItsWord(t *testing.T) {
	kinds := kindsOf(t)
	if found := bare(kinds, "two holders (lease-overlap), late write (stale-write, lost-update), leaks R (leftover)\nbroken by stale-write"); len(found) != 1 {
		t.Fatalf("%q are kinds without a word, want the last", found)
	}
	naive, err := os.ReadFile(built.Wasm(t, "../../locks/naive"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	files := map[string]string{"naive.wasm": string(naive)}
	maps.Copy(files, wordsInputs)
	for file, text := range files {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	told := map[string]bool{}
	tells := regexp.MustCompile(`\((?:` + strings.Join(slices.Collect(maps.Keys(kinds)), "|") + `)\b`)
	check := func(command, text string) {
		name, _, _ := strings.Cut(command, " ")
		told[name] = told[name] || tells.MatchString(text)
		for _, around := range bare(kinds, text) {
			t.Errorf("%s: a kind without its word: … %s …", command, around)
		}
	}
	for _, c := range tellsOfFindings {
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(c.command), &stdout, &stderr); code == exitUsage || code == exitInternal || code == exitNotWritten {
			t.Errorf("%s: exit code %d: %s", c.command, code, &stderr)
		}
		check(c.command, stdout.String()+stderr.String())
		if c.file == "" {
			continue
		}
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Error(err)
		}
		check(c.command, string(text))
	}
	// What can end with a verdict tells of findings. The keys of servers have no kinds.
	verdict := regexp.MustCompile(fmt.Sprintf(`(?m)^  [%d%d]  `, exitSafety, exitLiveness))
	for _, cmd := range newRoot().Commands() {
		if !told[cmd.Name()] && !cmd.Hidden && verdict.MatchString(cmd.Long) && cmd.Name() != "keys" {
			t.Errorf("nobody looks at what %s tells of what it finds", cmd.Name())
		}
	}
}
