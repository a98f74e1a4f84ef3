package programs_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlocksim/internal/built"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
)

// A loader fetches a program once, and again only when others were used since.
func TestALoaderKeepsTheLastPrograms(t *testing.T) {
	naive := load(t, filepath.Join("..", "..", "locks", "naive")).Foreign()
	fetched := 0
	loader := &programs.Loader{Cache: built.Cache(t)}
	get := func(args ...string) {
		t.Helper()
		m := &scenarios.Module{Name: naive.Module.Name, Args: args, Hash: naive.Module.Hash}
		f, err := loader.Load(t.Context(), m, func(_ context.Context, hash string) ([]byte, error) {
			if fetched++; hash != naive.Module.Hash {
				t.Errorf("%s is fetched", hash)
			}
			return naive.Module.Wasm, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint("naive 1 (", strings.Join(append([]string{"naive.wasm"}, args...), " "), ")"); f.Name != want || f.Build != naive.Build {
			t.Errorf("%s of build %s, want %s", f.Name, f.Build, want)
		}
		if again, err := f.Portable(); err != nil || !slices.Equal(again.Args, args) || again.Hash != naive.Module.Hash {
			t.Errorf("it would go on as %s %q of hash %s, %v", again.Name, again.Args, again.Hash, err)
		}
	}
	for _, x := range []struct {
		args []string
		want int
	}{
		{nil, 1}, {nil, 1}, {[]string{"a"}, 2}, {[]string{"a", "b"}, 3}, {[]string{"c"}, 4}, {nil, 4},
		{[]string{"d"}, 5}, {nil, 5}, {[]string{"a"}, 6}, {[]string{"c"}, 6},
	} {
		if get(x.args...); fetched != x.want {
			t.Errorf("after %q %d programs were fetched, want %d", x.args, fetched, x.want)
		}
	}
}

// What cannot be fetched or is no program is told with the program's name, and tried again the next time.
func TestALoaderOfNoProgram(t *testing.T) {
	loader, gone := &programs.Loader{}, errors.New("it is gone")
	for want, fetch := range map[string]func() ([]byte, error){
		"the lock program x.wasm: it is gone": func() ([]byte, error) { return nil, gone },
		"the lock program x.wasm: not a WebAssembly program that can run here: it does not begin as a module does": func() ([]byte, error) { return []byte("x"), nil },
	} {
		for range 2 {
			fetched := false
			_, err := loader.Load(t.Context(), &scenarios.Module{Name: "x.wasm", Hash: "x"}, func(context.Context, string) ([]byte, error) {
				fetched = true
				return fetch()
			})
			if !fetched || err == nil || err.Error() != want || strings.Contains(want, "gone") != errors.Is(err, gone) {
				t.Errorf("%v, want %s; fetched %t", err, want, fetched)
			}
		}
	}
}
