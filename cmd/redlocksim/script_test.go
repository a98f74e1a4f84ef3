package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"redlocksim/internal/built"
	"redlocksim/internal/child"
	"redlocksim/internal/longest"
	"redlocksim/internal/redisserver"
	"redlocksim/internal/stall/retry"
)

// asCommand is the environment variable with which the test binary is the command.
const asCommand = "REDLOCKSIM_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		asProcess()
	}
	testscript.Main(m, map[string]func(){"redlocksim": asProcess, "jobs-redis": jobsRedis})
}

// asProcess is the command in a process of its own. A test that is killed, as after its time, leaves none of them behind, nor
// what they have started.
func asProcess() {
	child.EndWithParent()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// jobsRedis is a redis-server for scripts, which is no more left behind.
func jobsRedis() {
	child.EndWithParent()
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	p, err := child.Start(exec.Command("redis-server", os.Args[1:]...))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {
	case <-told:
		p.Kill()
	case <-p.Exited():
		fmt.Fprint(os.Stderr, p.Output())
		os.Exit(1)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel() // with those on servers, which mostly wait
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// exits CODE COMMAND... runs the command and wants the exit code.
			"exits": exits,
		},
	})
}

// The scripts in testdata/servers start redis-server processes.
func TestScriptsOnServers(t *testing.T) { runsOnServers(t, "servers") }

// Those in testdata/longest take a quarter of a minute or more each.
func TestScriptsThatTakeLongest(t *testing.T) {
	longest.Only(t, "they take a quarter of a minute or more each")
	runsOnServers(t, "longest")
}

// runsOnServers runs scripts. A busy machine can fail them, so that they are tried again, with a longer $A_WHILE, which is in
// seconds. $NAIVE and $NAIVE_WASM are a lock program, and $LOCKS is the directory of all.
func runsOnServers(t *testing.T, dir string) {
	t.Helper()
	redisserver.Program(t)
	t.Parallel()
	naive, wasm := built.Program(t, "../../locks/naive"), built.Wasm(t, "../../locks/naive")
	locks, err := filepath.Abs("../../locks")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(scripts) < 2 {
		t.Fatalf("the scripts are %v, there were more: %v", scripts, err)
	}
	for _, path := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			retry.Test(t, 50*time.Millisecond, func(a *retry.T) {
				testscript.RunT(attempt{a}, testscript.Params{
					Files:               []string{path},
					RequireExplicitExec: true,
					Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "written": written},
					Condition:           has,
					Setup: func(env *testscript.Env) error {
						env.Setenv("A_WHILE", strconv.Itoa(int(4*a.Slower)))
						env.Setenv("NAIVE", naive)
						env.Setenv("NAIVE_WASM", wasm)
						env.Setenv("LOCKS", locks)
						env.Setenv("HOME", os.Getenv("HOME")) // where Go keeps what it has built
						return nil
					},
				})
			})
		})
	}
}

// has is the condition has:PROGRAM of a script: the program is on the PATH, or must be where no server may be missing.
func has(condition string) (bool, error) {
	program, is := strings.CutPrefix(condition, "has:")
	if !is {
		return false, fmt.Errorf("there is no condition %s", condition)
	}
	return missing(program) == nil || isRequired(), nil
}

// isRequired says that programs of others must be there, as in the gate.
func isRequired() bool { return os.Getenv("REDLOCKSIM_REQUIRE_SERVERS") == "1" }

func missing(program string) error {
	_, err := exec.LookPath(program)
	return err
}

// needs skips a test where a program of others is missing, and fails it where it must be there.
func needs(t *testing.T, program string) {
	t.Helper()
	if err := missing(program); err != nil {
		if isRequired() {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// attempt is an attempt at a script.
type attempt struct{ *retry.T }

func (a attempt) Run(_ string, f func(testscript.T)) { f(a) }
func (a attempt) Parallel()                          {}
func (a attempt) Verbose() bool                      { return testing.Verbose() }

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// written waits until a file that the pattern matches is not empty, for a minute at most.
func written(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: written PATTERN")
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		files, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		if slices.ContainsFunc(files, func(file string) bool {
			info, err := os.Stat(file)
			return err == nil && info.Size() > 0
		}) {
			return
		}
	}
	ts.Fatalf("nothing was written to %s in a minute", args[0])
}
