package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A file that may not be written to is not replaced either, and stays as it is with nothing beside it.
func TestPutLeavesWhatItMayNotWrite(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everything")
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := put(&bytes.Buffer{}, path, []byte("new")); err == nil {
		t.Error("no error")
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("it holds %q", got)
	}
}

// A new file has the permissions of any other, and an old one keeps its own; what is no file is written to.
func TestPut(t *testing.T) {
	dir := t.TempDir()
	plain, path := filepath.Join(dir, "plain"), filepath.Join(dir, "page.html")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	for i, text := range []string{"one", "two", "three"} {
		if err := put(&bytes.Buffer{}, path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		want := mode(plain)
		if i == 2 {
			want = 0o600
		}
		if got, _ := os.ReadFile(path); string(got) != text || mode(path) != want {
			t.Errorf("it holds %q with %v, want %q with %v", got, mode(path), text, want)
		}
		if i == 1 {
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("there are %v", entries)
	}
	if err := put(&bytes.Buffer{}, os.DevNull, []byte("x")); err != nil {
		t.Errorf("%s: %v", os.DevNull, err)
	}
	if mode(os.DevNull).IsRegular() {
		t.Errorf("%s was replaced by a file", os.DevNull)
	}
	var b bytes.Buffer
	if err := put(&b, "-", []byte("x")); err != nil || b.String() != "x" {
		t.Errorf("standard output has %q: %v", &b, err)
	}
}
