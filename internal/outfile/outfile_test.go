package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redlocksim/internal/mark"
)

const ours = mark.YAML + "\nold"

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// holds wants a file to hold a text, and nothing else to be in its directory but these names.
func holds(t *testing.T, path, text string, beside ...string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("%s holds %q, want %q: %v", path, got, text, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1+len(beside) {
		t.Errorf("beside it there are %v, want %v: %v", entries, beside, err)
	}
}

// What may be replaced, with and without force; Check and Write say the same.
func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		there        string // no file if it is "none"
		path         string
		rules        Rules
		plain, force bool // whether it may be written
	}{
		"nothing":          {"none", "a", Rules{}, true, true},
		"empty":            {"", "a", Rules{}, true, true},
		"ours":             {ours, "a", Rules{}, true, true},
		"somebody else's":  {"notes", "a", Rules{}, false, true},
		"the input":        {"notes", "a", Rules{Inputs: []string{"a"}}, false, false},
		"our input":        {ours, "a", Rules{Inputs: []string{"a"}}, false, false},
		"an empty input":   {"", "a", Rules{Inputs: []string{"a"}}, false, false},
		"the input's link": {ours, "a", Rules{Inputs: []string{"link"}}, false, false},
		"a link to it":     {ours, "link", Rules{Inputs: []string{"none", "a"}}, false, false},
		"by a hard link":   {ours, "hard", Rules{Inputs: []string{"a"}}, false, false},
		"another input":    {ours, "a", Rules{Inputs: []string{"b"}}, true, true},
		"a directory":      {ours, "sub", Rules{}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, force := range []bool{false, true} {
				t.Chdir(t.TempDir())
				write(t, "b", ours)
				if err := os.Mkdir("sub", 0o777); err != nil {
					t.Fatal(err)
				}
				if c.there != "none" {
					write(t, "a", c.there)
					for _, err := range []error{os.Symlink("a", "link"), os.Link("a", "hard"), os.Link("a", "sub/hard")} {
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				c.rules.Force = force
				may := c.plain
				if force {
					may = c.force
				}
				before := names(t)
				checked := c.rules.Check(c.path)
				if after := names(t); after != before {
					t.Errorf("after a look there are %s, before %s", after, before)
				}
				written := c.rules.Write(c.path, []byte("new"))
				for what, err := range map[string]error{"Check": checked, "Write": written} {
					switch {
					case may && err != nil:
						t.Errorf("%s, force %v: %v", what, force, err)
					case !may && !errors.As(err, new(*Refusal)):
						t.Errorf("%s, force %v: no refusal: %v", what, force, err)
					case !may && !strings.HasPrefix(err.Error(), c.path+" is ") && !strings.HasPrefix(err.Error(), c.path+" already exists"):
						t.Errorf("%s, force %v: %v", what, force, err)
					}
				}
				want := c.there
				if may {
					want = "new"
				}
				if got, err := os.ReadFile("a"); string(got) != want && c.there != "none" {
					t.Errorf("force %v: it holds %q, want %q: %v", force, got, want, err)
				}
			}
		})
	}
}

// names are the files of the working directory.
func names(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// Of a directory only those names count that are written there, and it need not be there yet.
func TestCheckDir(t *testing.T) {
	t.Chdir(t.TempDir())
	pages := func(name string) bool { return strings.HasSuffix(name, ".html") }
	look := func(dir string, rules Rules) error {
		t.Helper()
		before := names(t)
		err := rules.CheckDir(dir, pages)
		if after := names(t); after != before {
			t.Errorf("after a look there are %s, before %s", after, before)
		}
		return err
	}
	if err := look("not/there/yet", Rules{}); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir("pages", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "pages/notes", "somebody else's")
	write(t, "pages/a.html", mark.HTML)
	if err := look("pages", Rules{}); err != nil {
		t.Error(err)
	}
	refused := func(dir string, rules Rules, want string) {
		t.Helper()
		if err := look(dir, rules); !errors.As(err, new(*Refusal)) || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	refused("pages", Rules{Inputs: []string{"pages/a.html"}, Force: true}, "pages/a.html is the input pages/a.html, which is not replaced")
	refused("pages/a.html", Rules{}, "pages/a.html is a file; name a directory")
	write(t, "pages/b.html", "somebody else's")
	refused("pages", Rules{}, "pages/b.html already exists and may be yours; --force replaces it")
	if err := look("pages", Rules{Force: true}); err != nil {
		t.Error(err)
	}
	if err := look("pages/a.html/below", Rules{}); !errors.As(err, new(*WriteError)) {
		t.Errorf("got %v, want a write error", err)
	}
}

// A new file has the permissions of any other, and an old one keeps its own, through a link, too.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	plain, path, link := write(t, filepath.Join(dir, "plain"), ""), filepath.Join(dir, "page.html"), filepath.Join(dir, "link")
	mode := func(path string) os.FileMode {
		t.Helper()
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	put := func(path, text string) {
		t.Helper()
		if err := (Rules{Force: true}).Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put(path, "one")
	if mode(path) != mode(plain) {
		t.Errorf("a new file has %v, want %v", mode(path), mode(plain))
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.Symlink("page.html", link)); err != nil {
		t.Fatal(err)
	}
	put(link, "two")
	if mode(path) != 0o600 || mode(link)&os.ModeSymlink == 0 {
		t.Errorf("it has %v behind %v", mode(path), mode(link))
	}
	holds(t, path, "two", "plain", "link")
}

// A link to what is not there yet stays a link, and the file comes to where it leads.
func TestLinkToNothing(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(at("real/deep"), 0o777), os.Symlink("real/deep", at("short")), os.Symlink("../page.html", at("real/deep/up")),
		os.Symlink(at("short/up"), at("absolute")), os.Symlink("absolute", at("chain")), os.Symlink("no/page.html", at("nowhere"))); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"chain", "absolute", "short/up"} {
		if err := (Rules{}).Check(at(link)); err != nil {
			t.Errorf("%s: %v", link, err)
		}
		if err := (Rules{}).Write(at(link), []byte("new")); err != nil {
			t.Errorf("%s: %v", link, err)
		}
		if text, err := os.ReadFile(at("real/page.html")); string(text) != "new" {
			t.Errorf("%s: it does not lead to the file: %v", link, err)
		}
		if info, err := os.Lstat(at(link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", link, err)
		}
		if err := os.Remove(at("real/page.html")); err != nil {
			t.Error(err)
		}
	}
	for _, err := range []error{(Rules{}).Check(at("nowhere")), (Rules{}).Write(at("nowhere"), nil)} {
		if !errors.As(err, new(*WriteError)) || err.Error() != "open "+at("nowhere")+": no such file or directory" {
			t.Errorf("a link to no directory: %v", err)
		}
	}
}

// What is no regular file is written to as it is, and an error says which output it was.
func TestDevices(t *testing.T) {
	if err := (Rules{}).Write(os.DevNull, []byte("x")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced by a file: %v", os.DevNull, err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	if err := (Rules{}).Write("/dev/full", []byte("x")); !errors.As(err, new(*WriteError)) || !strings.Contains(err.Error(), "/dev/full: no space") {
		t.Errorf("got %v", err)
	}
}

// What cannot be written is not replaced, and nothing is left beside it.
func TestCannotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "such", "folder.html")
	for _, err := range []error{(Rules{}).Check(path), (Rules{}).Write(path, nil)} {
		if !errors.As(err, new(*WriteError)) || err.Error() != "open "+path+": no such file or directory" {
			t.Errorf("got %v", err)
		}
	}
	if os.Getuid() == 0 {
		t.Skip("root may write everything")
	}
	path = write(t, filepath.Join(t.TempDir(), "page.html"), ours)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := (Rules{Force: true}).Write(path, []byte("new")); !errors.As(err, new(*WriteError)) {
		t.Errorf("got %v", err)
	}
	holds(t, path, ours)
}
