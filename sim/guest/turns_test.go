package guest

import (
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

// program is a module whose _start has these instructions, and that has one global.
func program(instructions ...byte) []byte {
	body := slices.Concat([]byte{0}, instructions, []byte{opEnd})
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), section(typeSection, []byte{1, 0x60, 0, 0}), section(functionSection, []byte{1, 0}),
		section(globalSection, []byte{1, 0x7e, 1, 0x42, 0, opEnd}), section(exportSection, []byte{1, 6}, []byte("_start"), []byte{0, 0}),
		section(codeSection, []byte{1}, number(uint64(len(body))), body))
}

// A program cannot give itself turns.
func TestTurnsAreNobodysElse(t *testing.T) {
	for index, want := range []string{"", "a global that is not there"} {
		_, err := Load(program(opI64Const, 9, opGlobalSet, byte(index)), "", Limits{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("global %d: %v", index, err)
		}
	}
	if _, err := Load(program(0x06), "", Limits{}); err == nil || !strings.Contains(err.Error(), "instruction 0x6, which is not known here") {
		t.Error(err)
	}
}

// Calls that call others, and long copies, are counted, too.
func TestTurnsWithoutLoops(t *testing.T) {
	const functions = 40 // each of which calls the next twice
	var bodies []byte
	for i := range functions {
		body := []byte{0, opEnd}
		if i+1 < functions {
			body = []byte{0, 0x10, byte(i + 1), 0x10, byte(i + 1), opEnd}
		}
		bodies = append(append(bodies, byte(len(body))), body...)
	}
	calls := slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), section(typeSection, []byte{1, 0x60, 0, 0}), section(functionSection, []byte{functions}, make([]byte, functions)),
		section(exportSection, []byte{1, 6}, []byte("_start"), []byte{0, 0}), section(codeSection, []byte{functions}, bodies))
	// A mebibyte.
	fill := slices.Concat([]byte{opI32Const, 0, opI32Const, 0, opI32Const}, []byte{0x80, 0x80, 0xc0, 0x00}, []byte{opBulk, 11, 0})
	body := slices.Concat([]byte{0, opLoop, noResult}, fill, []byte{0x0c, 0, opEnd, opEnd})
	fills := slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), section(typeSection, []byte{1, 0x60, 0, 0}), section(functionSection, []byte{1, 0}),
		section(memorySection, []byte{1, 0, 16}), section(exportSection, []byte{1, 6}, []byte("_start"), []byte{0, 0}), section(codeSection, []byte{1}, number(uint64(len(body))), body))
	for name, wasm := range map[string][]byte{"calls": calls, "fills": fills} {
		const turns = 1 << 20
		d, err := declared(wasm, turns)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		engine := wazero.NewRuntime(ctx)
		module, err := engine.Instantiate(ctx, d.module)
		if module == nil {
			t.Fatalf("%s: %v", name, err)
		}
		left := int64(module.ExportedGlobal(turnsExport).Get())
		if err == nil || !strings.Contains(err.Error(), "unreachable") || left > 0 || left < -1<<15 {
			t.Errorf("%s: %d turns are left: %v", name, left, err)
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
