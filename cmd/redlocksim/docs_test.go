package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlocksim/internal/built"
	"redlocksim/scenarios"
)

// documents are the README and the pages of the docs folder, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, readme) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

var (
	link  = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	claim = regexp.MustCompile(`\[([^\]]+)\]\((?:\.\./)?scenarios/files/([^)]+)\)\s+(\w+)`)
)

// Links lead somewhere.
func TestLinks(t *testing.T) {
	for path, text := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if !isThere(filepath.Dir(path), m[1]) {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
	}
}

var (
	mention = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	comment = regexp.MustCompile(`//.*`)
	address = regexp.MustCompile(`\w+://\S+`)
)

// The pages that comments and documents speak of are there, from where they are spoken of or from the root.
func TestPagesSpokenOf(t *testing.T) {
	const root = "../.."
	spoken := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "testdata", "node_modules"}, d.Name()):
			return filepath.SkipDir
		case !slices.Contains([]string{".go", ".md", ".yaml", ".lua"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		prose := address.ReplaceAllString(string(text), "")
		if filepath.Ext(path) == ".go" {
			prose = strings.Join(comment.FindAllString(prose, -1), "\n")
		}
		for _, name := range mention.FindAllString(prose, -1) {
			if !isThere(filepath.Dir(path), name) && !isThere(root, name) {
				t.Errorf("%s speaks of %s, which is not there", path, name)
			}
			spoken++
		}
		return nil
	})
	if err != nil || spoken < 20 {
		t.Errorf("%d pages are spoken of, there were more: %v", spoken, err)
	}
}

func isThere(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

var (
	codeName   = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)")
	optionName = regexp.MustCompile("`(With[A-Z]\\w*)")
	sourceFile = regexp.MustCompile("`([\\w-]+/[\\w/-]+\\.go)`")
)

// The names of the code that documents speak of are there: those of packages, options of the library, and source files.
func TestNamesSpokenOf(t *testing.T) {
	declared, packages := exportedNames(t)
	spoken := 0
	for path, text := range documents(t) {
		for _, m := range codeName.FindAllStringSubmatch(text, -1) {
			// What servers answer is recognized by go-redis, whose package is called redis, as one of ours is.
			if packages[m[1]] && m[1] != "redis" && !declared[m[1]+"."+m[2]] {
				t.Errorf("%s speaks of %s.%s, which is not there", path, m[1], m[2])
			}
			spoken++
		}
		for _, m := range optionName.FindAllStringSubmatch(text, -1) {
			if filepath.Base(path) != "from-redsync.md" && !declared["redlock."+m[1]] { // redsync has options, too
				t.Errorf("%s speaks of the option %s, which is not there", path, m[1])
			}
			spoken++
		}
		for _, m := range sourceFile.FindAllStringSubmatch(text, -1) {
			if !isThere("../..", m[1]) {
				t.Errorf("%s speaks of %s, which is not there", path, m[1])
			}
			spoken++
		}
	}
	if spoken < 40 {
		t.Errorf("%d names are spoken of, there were more", spoken)
	}
}

// exportedNames are the exported names of the module as documents write them, and the names of its packages.
func exportedNames(t *testing.T) (declared, packages map[string]bool) {
	t.Helper()
	declared, packages = map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "internal" { // documents speak of variables called as packages in there
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		of := file.Name.Name
		packages[of] = true
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declared[of+"."+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						declared[of+"."+spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							declared[of+"."+name.Name] = true
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared, packages
}

// Where the documentation says that a scenario holds or breaks, or that somebody waits in it, it expects that.
func TestClaims(t *testing.T) {
	catalogue := scenarios.Catalogue()
	checked := 0
	for path, text := range documents(t) {
		for _, m := range claim.FindAllStringSubmatch(text, -1) {
			name, file, word := m[1], m[2], m[3]
			i := slices.IndexFunc(catalogue, func(s *scenarios.Scenario) bool { return s.Name == name })
			base, _, _ := strings.Cut(name, "/")
			switch {
			case i < 0:
				t.Errorf("%s: there is no scenario %s", path, name)
			case file != base+".yaml":
				t.Errorf("%s: %s is not in %s", path, name, file)
			case word == "holds" && len(catalogue[i].Expect.Findings) != 0,
				word == "breaks" && len(catalogue[i].Expect.Findings) == 0,
				word == "waits" && !catalogue[i].Expect.Unavailable.IsTheSubject():
				t.Errorf("%s: %s %s, and it expects %v, unavailable %v", path, name, word, catalogue[i].Expect.Findings, catalogue[i].Expect.Unavailable)
			case word != "holds" && word != "breaks" && word != "waits":
				t.Errorf("%s: %s %s: holds, breaks or waits?", path, name, word)
			}
			checked++
		}
	}
	if checked < 60 {
		t.Errorf("%d scenarios are named, there were more", checked)
	}
}

// Each point of the advice which lock to take names a scenario that shows it.
func TestAdviceIsShown(t *testing.T) {
	const page = "../../docs/which-lock.md"
	points := strings.Split(documents(t)[page], "\n- ")[1:]
	for _, point := range points {
		if point, _, _ = strings.Cut(point, "\n\n"); !claim.MatchString(point) {
			t.Errorf("%s: no scenario shows it: %s", page, point)
		}
	}
	if len(points) < 17 {
		t.Errorf("%s has %d points, there were more", page, len(points))
	}
}

// The picture in the README is that of the run.
func TestReadmePicture(t *testing.T) {
	const path = "../../docs/17-clock-jump.svg"
	var stdout, stderr bytes.Buffer
	if code := run([]string{"run", "17-clock-jump", "--svg", "-"}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	if *update {
		if err := os.WriteFile(path, stdout.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(shown, stdout.Bytes()) {
		t.Errorf("%s is not what the run draws (go test ./cmd/redlocksim -update writes it)", path)
	}
}

// shorter makes commands that run for minutes run for seconds, by what stands in them. What then runs is the same code.
var shorter = strings.NewReplacer(
	"--beyond --seeds 10000", "--beyond --seeds 4 --seed 2", // which finds something
	"--seeds 100000", "--seeds 8",
	"--seeds 10000", "--seeds 8",
	"--seeds 20000", "--seeds 8",
	"--for 10m", "--for 1ms --generation 5",
	"--limit 20000", "--limit 10",
	"our-settings.yaml --orders", "our-settings.yaml --orders --limit 10",
	"suite --lock", "suite --filter ^58- --lock",
)

// elsewhere are commands that other tests run: set-up, the whole suite, what the README shows the output of, workers.
var elsewhere = []string{"suite", "run 17-clock-jump", "play", "work redis://jobs.example.com", "explore --seeds 5000000 --workers redis://jobs.example.com"}

var (
	shown = regexp.MustCompile(`(?m)^(?:\$ )?(?:go run \./cmd/)?redlocksim (.*?)(?:\s+#.*)?$`)
	words = regexp.MustCompile(`'[^']*'|\S+`)
)

// inCI are the variables that a pipeline sets.
var inCI = map[string]string{"RUN_NUMBER": "7", "GITHUB_STEP_SUMMARY": "summary.md"}

// arguments are those of a command line, as a shell would expand it.
func arguments(t *testing.T, line string) (args []string) {
	for _, word := range words.FindAllString(line, -1) {
		if strings.HasPrefix(word, "'") {
			args = append(args, strings.Trim(word, "'"))
			continue
		}
		word = os.Expand(strings.Trim(word, `"`), func(name string) string {
			if _, known := inCI[name]; !known {
				t.Errorf("%s: no pipeline sets %s", line, name)
			}
			return inCI[name]
		})
		if files, _ := filepath.Glob(word); files != nil {
			args = append(args, files...)
			continue
		}
		args = append(args, word)
	}
	return args
}

// impliedExit is the exit code that the pages imply for a command: their settings are safe within the budget, and only a
// search that goes beyond it breaks the lock. A baseline is written of a lock with failures.
func impliedExit(line string) int {
	if strings.Contains(line, "--beyond") || strings.Contains(line, "--json baseline.json") {
		return exitSafety
	}
	return exitOK
}

// Every command that the documentation shows in a block of its own works, and ends with the exit code that its page implies.
func TestCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command of the documentation")
	}
	all := documents(t)
	settings, _, _ := between(t, all[searching], "```yaml\n", "```\n")
	known, _, _ := between(t, all[choosing], "```yaml\n", "```\n")
	scenario, err := os.ReadFile("../../scenarios/files/17-clock-jump.yaml")
	if err != nil {
		t.Fatal(err)
	}
	naive, redsync := built.Wasm(t, "../../locks/naive"), built.Wasm(t, "../../locks/redsync")
	t.Chdir(t.TempDir())
	for _, dir := range []string{"scenarios", "locks/redsync"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for path, program := range map[string]string{"my-lock.wasm": naive, "naive.wasm": naive, "locks/redsync/redsync.wasm": redsync} {
		if err := os.Symlink(program, path); err != nil {
			t.Fatal(err)
		}
	}
	history := `{"process": "client-1", "type": "invoke", "f": "acquire", "time": "2026-11-25T10:00:00Z"}
{"process": "client-1", "type": "ok", "f": "acquire", "time": "2026-11-25T10:00:00.004Z"}
`
	for path, text := range map[string]string{"our-settings.yaml": settings, "known.yaml": known, "scenarios/ours.yaml": string(scenario), "client-1.jsonl": history} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	checked := 0
	for path, text := range all {
		for _, block := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
			if block[1] != "" && block[1] != "sh" { // in bash are those that TestWaysToAVerdict pastes
				continue
			}
			for _, line := range shown.FindAllStringSubmatch(block[2], -1) {
				if slices.Contains(elsewhere, line[1]) {
					continue
				}
				checked++
				args := arguments(t, shorter.Replace(line[1]))
				var stdout, stderr bytes.Buffer
				if code, want := run(args, &stdout, &stderr), impliedExit(line[1]); code != want {
					t.Errorf("%s: redlocksim %s: exit %d, want %d\n%s", path, strings.Join(args, " "), code, want, &stderr)
				}
			}
		}
	}
	if checked < 13 {
		t.Errorf("%d commands were run, there were more", checked)
	}
}
