//go:build linux

// Fetch has the servers of other Debian releases that redlocksim is tested on, and prints one path a line: programs to name in
// REDLOCKSIM_REDIS_SERVER, beside the redis-server on the PATH. With -version it prints what each says of itself.
//
//	go run ./internal/redisproc/fetch
//
// With a command behind it, it runs that with each of the servers in turn, and fails if the command does:
//
//	go run ./internal/redisproc/fetch go test ./redlock/goredis ./sim/conformance
//
// It keeps them in the user's cache folder, and fetches nothing that is there; delete the folder to have newer ones. Each is
// unpacked with all that it depends on, its own C library too, and nothing is installed: it runs on older releases, and needs
// apt and dpkg, not root.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"redlocksim/internal/redisproc"
)

// release is a server of a Debian release.
type release struct {
	suite, server string // the server is the name of the program, and of its package
}

// releases are those that docs/library.md names.
var releases = []release{{"trixie", "redis-server"}, {"trixie", "valkey-server"}, {"sid", "valkey-server"}}

// keyring has the keys of all of Debian's releases.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

func main() {
	version := flag.Bool("version", false, "print what each server says of its version, too")
	flag.Parse()
	if err := run(*version, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "fetch: %v\n", err)
		os.Exit(1)
	}
}

func run(version bool, command []string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(cache, "redlocksim", "servers")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range releases {
		program := filepath.Join(dir, r.suite+"-"+r.server, "redis-server")
		if _, err := os.Stat(program); err != nil {
			if err := r.fetch(dir); err != nil {
				return fmt.Errorf("%s of %s: %w", r.server, r.suite, err)
			}
		}
		says, err := output(program, "--version")
		if err != nil {
			return fmt.Errorf("%s of %s does not run; delete %s to have it fetched again: %w", r.server, r.suite, filepath.Dir(program), err)
		}
		if version {
			fmt.Print(says)
		}
		fmt.Println(program)
		if len(command) > 0 {
			if err := with(program, command); err != nil {
				return fmt.Errorf("with %s: %w", strings.TrimSpace(says), err)
			}
		}
	}
	return nil
}

// with runs a command that starts the program for its servers.
func with(program string, command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), redisproc.ProgramEnv+"="+program)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// fetch downloads and unpacks the server, and writes a script that starts it. It moves all of it to its place at the end.
func (r release) fetch(dir string) error {
	work, err := os.MkdirTemp(dir, "fetching-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	packages, err := r.download(work)
	if err != nil {
		return err
	}
	root := filepath.Join(work, "root")
	for _, p := range packages {
		if _, err := output("dpkg", "-x", p, root); err != nil {
			return err
		}
	}
	script, err := r.script(root)
	if err != nil {
		return err
	}
	program := filepath.Join(work, "redis-server")
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		return err
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(work, "apt")); err != nil {
		return err
	}
	return os.Rename(work, filepath.Join(dir, r.suite+"-"+r.server))
}

// download gets the package and all that it depends on, as for an empty system, with an apt that has a state of its own.
func (r release) download(work string) (packages []string, err error) {
	apt := filepath.Join(work, "apt")
	for _, d := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(apt, d), 0o755); err != nil {
			return nil, err
		}
	}
	sources, err := r.sources()
	if err != nil {
		return nil, err
	}
	list, status := filepath.Join(apt, "debian.sources"), filepath.Join(apt, "status")
	for file, text := range map[string]string{list: sources, status: ""} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	options := []string{"-q", "-o", "Dir::Etc::SourceList=" + list, "-o", "Dir::Etc::SourceParts=/dev/null", "-o", "Dir::Etc::Preferences=/dev/null",
		"-o", "Dir::Etc::PreferencesParts=/dev/null", "-o", "Dir::State::Lists=" + filepath.Join(apt, "lists"), "-o", "Dir::State::status=" + status,
		"-o", "Dir::Cache=" + filepath.Join(apt, "cache"), "-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User=", "-o", "Acquire::Retries=3",
		"-o", "APT::Update::Error-Mode=any"}
	for _, command := range [][]string{{"update"}, {"install", "--yes", "--download-only", "--no-install-recommends", r.server}} {
		if _, err := output("apt-get", append(options, command...)...); err != nil {
			return nil, err
		}
	}
	packages, err = filepath.Glob(filepath.Join(apt, "cache", "archives", "*.deb"))
	if err == nil && len(packages) == 0 {
		err = fmt.Errorf("apt-get has downloaded no packages")
	}
	return packages, err
}

// sources is a source list for the suite, at the place from which this machine has its own Debian.
func (r release) sources() (string, error) {
	text, err := output("apt-get", "indextargets", "--format", "$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)", "Created-By: Packages")
	if err != nil {
		return "", err
	}
	codename, err := output("sh", "-c", `. /etc/os-release && echo "$ID $VERSION_CODENAME"`)
	if err != nil {
		return "", err
	}
	distribution, own, _ := strings.Cut(strings.TrimSpace(codename), " ")
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if distribution != "debian" || len(f) != 3 || f[1] != own || f[2] != "main" {
			continue
		}
		sources := fmt.Sprintf("Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nTargets: Packages\n", f[0], r.suite)
		if exists(keyring) {
			sources += "Signed-By: " + keyring + "\n"
		}
		return sources, nil
	}
	return "", fmt.Errorf("this is %s, and apt knows no place that has Debian's %s main, so none for %s either", strings.TrimSpace(codename), own, r.suite)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// script starts the unpacked program with its own loader and libraries, under the process that starts the script.
func (r release) script(root string) (string, error) {
	loaders, err := filepath.Glob(filepath.Join(root, "usr/lib/*/ld-linux-*.so.*"))
	if err != nil || len(loaders) != 1 {
		return "", fmt.Errorf("among the packages there is not one loader but %d", len(loaders))
	}
	loader, err := filepath.Rel(root, loaders[0])
	if err != nil {
		return "", err
	}
	if !exists(filepath.Join(root, "usr/bin", r.server)) {
		return "", fmt.Errorf("among the packages there is no /usr/bin/%s", r.server)
	}
	return fmt.Sprintf("#!/bin/sh\nroot=${0%%/*}/root\nexec \"$root/%s\" --library-path \"$root/%s\" \"$root/usr/bin/%s\" \"$@\"\n",
		loader, filepath.Dir(loader), r.server), nil
}

// output is what a program prints; if it fails, the error is what it says.
func output(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, args[len(args)-1], err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}
