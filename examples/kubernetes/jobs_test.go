// Package kubernetes tests the files beside it.
package kubernetes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// job reads a file as Kubernetes does that refuses fields which it does not know.
func job(t *testing.T, name string) *batch.Job {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var j batch.Job
	if err := yaml.UnmarshalStrict(data, &j); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Name == "" {
		t.Errorf("%s is %s %s %q", name, j.APIVersion, j.Kind, j.Name)
	}
	for _, c := range j.Spec.Template.Spec.Containers {
		for _, m := range c.VolumeMounts {
			if !slices.ContainsFunc(j.Spec.Template.Spec.Volumes, func(v core.Volume) bool { return v.Name == m.Name && v.PersistentVolumeClaim != nil }) {
				t.Errorf("%s: %s mounts %s, which is no claim", name, c.Name, m.Name)
			}
		}
	}
	return &j
}

// ends runs the command of a job's container with a redlocksim that ends with a code, and returns how the container ends, and
// how redlocksim was called.
func ends(t *testing.T, j *batch.Job, code int, env ...string) (exit int, called string) {
	t.Helper()
	dir := t.TempDir()
	fake := fmt.Sprintf("#!/bin/sh\necho \"$*\" > %s/called\nexit %d\n", dir, code)
	if err := os.WriteFile(filepath.Join(dir, "redlocksim"), []byte(fake), 0o777); err != nil {
		t.Fatal(err)
	}
	command := j.Spec.Template.Spec.Containers[0].Command
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH")), env...)
	_ = cmd.Run() // the exit code says it
	data, err := os.ReadFile(filepath.Join(dir, "called"))
	if err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), strings.TrimSpace(string(data))
}

// What is found is a result, what another pod would do as well fails the job at once, and all else is tried again.
func TestSearch(t *testing.T) {
	j := job(t, "search.yaml")
	parts := *j.Spec.Completions
	if *j.Spec.CompletionMode != batch.IndexedCompletion || *j.Spec.BackoffLimitPerIndex == 0 || j.Spec.Template.Spec.RestartPolicy != core.RestartPolicyNever {
		t.Errorf("%+v", j.Spec)
	}
	const succeeds, fails, again = "succeeds", "fails the job", "is tried again"
	for code, want := range map[int]string{0: succeeds, 1: succeeds, 3: succeeds, 2: fails, 4: fails, 5: fails, 7: fails, 137: again, 143: again} {
		exit, _ := ends(t, j, code, "JOB_COMPLETION_INDEX=0")
		got := again
		if exit == 0 {
			got = succeeds
		}
		for _, r := range j.Spec.PodFailurePolicy.Rules {
			if c := r.OnExitCodes; c != nil && c.Operator == batch.PodFailurePolicyOnExitCodesOpIn && slices.Contains(c.Values, int32(exit)) &&
				*c.ContainerName == j.Spec.Template.Spec.Containers[0].Name && r.Action == batch.PodFailurePolicyActionFailJob {
				got = fails
			}
		}
		if got != want {
			t.Errorf("a pod whose redlocksim ends with %d %s, want: %s", code, got, want)
		}
	}
	for i := range parts {
		_, called := ends(t, j, 0, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
		if want := fmt.Sprintf("--shard %d/%d --dir /results/part-%d --resume", i+1, parts, i+1); !strings.HasSuffix(called, want) || !strings.HasPrefix(called, "explore --seeds ") {
			t.Errorf("pod %d calls redlocksim %s, want %s", i, called, want)
		}
	}
}

// What the search found is what the merging job ends with.
func TestMerge(t *testing.T) {
	j := job(t, "merge.yaml")
	for _, code := range []int{0, 1, 2} {
		exit, called := ends(t, j, code)
		if exit != code || called != "merge --dir /results/all --force /results/part-*" {
			t.Errorf("redlocksim %s ends with %d, and the job with %d", called, code, exit)
		}
	}
	if *j.Spec.BackoffLimit != 0 {
		t.Error("what was found is looked for again")
	}
}
