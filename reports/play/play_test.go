package play

import (
	"crypto/sha256"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The editor is bundled from the sources as they are.
func TestEditorIsBundled(t *testing.T) {
	sum := sha256.New()
	for _, name := range []string{"editor.js", "package.json", "package-lock.json"} {
		data, err := os.ReadFile("editor/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(data)
	}
	bundle, err := os.ReadFile("site/editor.js")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(bundle), "\n")
	if want := fmt.Sprintf("// Bundled by play/editor from sources %x", sum.Sum(nil)); first != want {
		t.Errorf("site/editor.js begins with %.100q, want %q: npm ci && npm run bundle in play/editor", first, want)
	}
}

// What works offline is the whole site.
func TestOfflineHasAll(t *testing.T) {
	script, err := os.ReadFile("site/offline.js")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`const files = \[(.*)\]`).FindSubmatch(script)
	if list == nil {
		t.Fatal("offline.js has no list of files")
	}
	var kept []string
	for _, word := range strings.Split(string(list[1]), ", ") {
		if word = strings.Trim(word, `"`); word != "./" {
			kept = append(kept, word)
		}
	}
	slices.Sort(kept)
	want := slices.DeleteFunc(Names(), func(name string) bool { return name == worker })
	if !slices.Equal(kept, want) {
		t.Errorf("offline there are %v, want %v", kept, want)
	}
}
