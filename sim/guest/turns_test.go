package guest

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

// The modules of WebAssembly's own tests, which the engine's source comes with, are valid after they were written anew if they
// were before.
func TestModulesWrittenAnewAreValid(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	engine := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer engine.Close(ctx)
	loops, laid := 0, 0
	err = filepath.WalkDir(strings.TrimSpace(string(dir)), func(path string, f fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".wasm" {
			return err
		}
		wasm, err := os.ReadFile(path)
		if err != nil || len(wasm) > 1<<20 {
			return err
		}
		if _, err := engine.CompileModule(ctx, wasm); err != nil {
			return nil
		}
		d, err := declared(wasm, 1000)
		if err != nil {
			if !strings.Contains(err.Error(), "more than") { // a limit that engines in browsers have
				t.Errorf("%s: %v", path, err)
			}
			return nil
		}
		if _, err := engine.CompileModule(ctx, d.module); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if strings.Contains(string(d.module), turnsExport) {
			loops++
		}
		if d.image != nil {
			laid++
		}
		return nil
	})
	if err != nil || loops < 1000 || laid < 50 {
		t.Errorf("%d modules with turns, and %d with an image: %v", loops, laid, err)
	}
}

// program is a module with one global and a page of memory, whose functions have these instructions. _start is the first.
func program(functions ...[]byte) []byte {
	var bodies []byte
	for _, instructions := range functions {
		body := slices.Concat([]byte{0}, instructions, []byte{opEnd})
		bodies = slices.Concat(bodies, number(uint64(len(body))), body)
	}
	n := byte(len(functions))
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), section(typeSection, []byte{1, 0x60, 0, 0}), section(functionSection, []byte{n}, make([]byte, n)),
		section(memorySection, []byte{1, 0, 1}), section(globalSection, []byte{1, valueI64, mutable, opI64Const, 0, opEnd}),
		section(exportSection, []byte{1, 6}, []byte("_start"), []byte{0, 0}), section(codeSection, []byte{n}, bodies))
}

// A program cannot give itself turns.
func TestTurnsAreNobodysElse(t *testing.T) {
	for index, want := range []string{"", "a global that is not there", "a global that is not there"} {
		_, err := Load(program([]byte{opI64Const, 9, opGlobalSet, byte(index)}), "", Limits{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("global %d: %v", index, err)
		}
	}
	if _, err := Load(program([]byte{0x06}), "", Limits{}); err == nil || !strings.Contains(err.Error(), "instruction 0x6, which is not known here") {
		t.Error(err)
	}
}

// Loops and calls of functions are turns, more of them in long functions, and so is what is copied. It ends when none is left.
func TestTurns(t *testing.T) {
	const turns = 2000
	calls := func(i byte) []byte { return []byte{0x10, i, 0x10, i} }
	for name, c := range map[string]struct {
		wasm []byte
		made int64
		ends bool
	}{
		"nothing":        {program(nil), 1, true},
		"calls":          {program(calls(1), calls(2), nil), 1 + 2 + 4, true},
		"a loop":         {program([]byte{opLoop, noResult, opEnd}), 2, true},
		"a long one":     {program(slices.Concat([]byte{opLoop, noResult}, bytes.Repeat([]byte{0x01}, 3*codePerTurn), []byte{opEnd})), 8, true},
		"a fill":         {program([]byte{opI32Const, 0, opI32Const, 0, opI32Const, 0x80, 0x80, 0x04, opBulk, 11, 0}), 1 + 65536/64, true},
		"a copy":         {program([]byte{opI32Const, 0, opI32Const, 0, opI32Const, 0x80, 0x08, opBulk, 10, 0, 0}), 1 + 1024/64, true},
		"an endless one": {program([]byte{opLoop, noResult, 0x0c, 0, opEnd}), turns, false},
	} {
		d, err := declared(c.wasm, turns)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		engine := wazero.NewRuntime(ctx)
		module, err := engine.Instantiate(ctx, d.module)
		if module == nil {
			t.Fatalf("%s: %v", name, err)
		}
		if made := turns - int64(module.ExportedGlobal(turnsExport).Get()); made != c.made || (err == nil) != c.ends {
			t.Errorf("%s: %d turns, want %d: %v", name, made, c.made, err)
		}
		_ = engine.Close(ctx)
	}
}

// What a memory begins with is laid out once, if it is known where it goes and there is room.
func TestImagesOfMemories(t *testing.T) {
	pages := func(n byte) []byte { return section(memorySection, []byte{1, 0, n}) }
	data := func(segments ...[]byte) []byte {
		return section(dataSection, []byte{byte(len(segments))}, slices.Concat(segments...))
	}
	at := func(address byte, text string) []byte {
		return slices.Concat([]byte{0, 0x41, address, opEnd, byte(len(text))}, []byte(text))
	}
	for name, c := range map[string]struct {
		sections []byte
		want     string
	}{
		"one over another": {slices.Concat(pages(1), data(at(1, "abc"), at(2, "xy"), at(5, "z"))), "\x00axy\x00z"},
		"no room":          {slices.Concat(pages(0), data(at(1, "abc"))), ""},
		"far away":         {slices.Concat(pages(1), data(slices.Concat([]byte{0, 0x41, 0xff, 0xff, 0, opEnd, 1, 'a'}))), ""},
		"a sign":           {slices.Concat(pages(1), data(at(0x7f, "a"))), ""},
		"a global":         {slices.Concat(pages(1), data([]byte{0, 0x23, 0, opEnd, 1, 'a'})), ""},
		"on demand":        {slices.Concat(pages(1), data([]byte{1, 1, 'a'})), ""},
		"counted":          {slices.Concat(pages(1), section(dataCountSection, []byte{1}), data(at(1, "a"))), ""},
	} {
		wasm := slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), c.sections)
		d, err := declared(wasm, 1)
		if isThere := slices.Equal(d.module, wasm); err != nil || string(d.image) != c.want || isThere != (c.want == "") {
			t.Errorf("%s: %q, and the segments are there: %t: %v", name, d.image, isThere, err)
		}
	}
}
