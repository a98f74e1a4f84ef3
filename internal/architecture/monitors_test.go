package architecture_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every monitor is in the table of docs/architecture.md that says where a rule is.
func TestMonitorsAreInTheTable(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	document := read("docs/architecture.md")
	_, list, _ := strings.Cut(read("checker/rules/watch.go"), "var monitors = ")
	list, _, _ = strings.Cut(list, "\n}\n")
	names := regexp.MustCompile(`\bwatch\w+`).FindAllString(list, -1)
	if len(names) < 10 {
		t.Fatalf("there are only the monitors %v", names)
	}
	files, err := filepath.Glob(filepath.Join(root, "checker/rules/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := "checker/rules/" + filepath.Base(file)
		for _, watch := range names {
			if strings.Contains(read(name), "func "+watch+"(") && !strings.Contains(document, "(../"+name+")") {
				t.Errorf("%s of %s is not in the table", watch, name)
			}
		}
	}
}
