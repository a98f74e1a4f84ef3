package strictyaml_test

import (
	"strings"
	"testing"

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
		if got := strictyaml.Nearest(word, valid); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := strictyaml.Nearest("delay", nil); got != "" {
		t.Errorf("nearest of none is %q", got)
	}
}

func long(n int) string { return strings.Repeat("x", n) }
