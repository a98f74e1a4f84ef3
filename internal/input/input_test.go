package input

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// endless is a reader without an end that counts what is taken from it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func TestReadStopsAtTheLimit(t *testing.T) {
	const limit = 1 << 20
	e := &endless{}
	if _, err := Read("x", e, limit); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if e.read > limit+1 {
		t.Errorf("%d bytes were read, the limit is %d", e.read, limit)
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("1234"), 0o666); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(path, 4); err != nil || string(data) != "1234" {
		t.Errorf("at the limit: %q, %v", data, err)
	}
	if _, err := ReadFile(path, 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("above the limit: %v", err)
	}
	if _, err := ReadFile(path+"x", 3); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}
