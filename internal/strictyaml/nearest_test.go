package strictyaml_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"redlocksim/internal/strictyaml"
)

func TestNearest(t *testing.T) {
	valid := []string{"delay", "duplicate", "drop", "max_steps", "Überlast", "node-1", "node-2"}
	for word, want := range map[string]string{
		"delya":                  "delay",
		"edlay":                  "delay",
		"edlxx":                  "",
		"dely":                   "delay",
		"DELAY":                  "delay",
		"duplciates":             "duplicate",
		"dup":                    "duplicate",
		"du":                     "",
		"drop_rate":              "drop",
		"stop":                   "",
		"max-steps":              "max_steps",
		"max steps":              "max_steps",
		"maxsteps":               "max_steps",
		"uberlast":               "Überlast",
		"node-3":                 "node-1",
		"node-2":                 "node-1",
		"delay":                  "",
		"partition":              "",
		"":                       "",
		strings.Repeat("d", 65):  "",
		"drop" + long(61):        "",
		"drop" + long(60):        "drop",
		"yaled":                  "",
		"droppp":                 "drop",
		"dropppp":                "drop",
		"max__________steps____": "",
	} {
		got, ok := strictyaml.Nearest(word, valid)
		if got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", word, got, ok, want)
		}
	}
	if got, ok := strictyaml.Nearest("delay", nil); ok {
		t.Errorf("nearest of none is %q", got)
	}
}

func long(n int) string { return strings.Repeat("x", n) }

// One slip in a word of four letters or more finds the word again, if the other
// valid words are not alike.
func TestNearestFindsOneSlip(t *testing.T) {
	valid := []string{"partition", "crash", "hold", "quorum", "validity"}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom(valid).Draw(t, "word")
		letters := []rune(word)
		i := rapid.IntRange(0, len(letters)-2).Draw(t, "at")
		switch rapid.SampledFrom([]string{"swap", "drop", "change", "add"}).Draw(t, "slip") {
		case "swap":
			letters[i], letters[i+1] = letters[i+1], letters[i]
		case "drop":
			letters = slices.Delete(letters, i, i+1)
		case "change":
			letters[i] = 'x'
		case "add":
			letters = slices.Insert(letters, i, 'x')
		}
		if string(letters) == word {
			t.Skip()
		}
		if got, ok := strictyaml.Nearest(string(letters), valid); !ok || got != word {
			t.Errorf("Nearest(%q) = %q, want %q", string(letters), got, word)
		}
	})
}
