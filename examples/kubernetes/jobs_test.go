// Package kubernetes tests the files beside it.
package kubernetes

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
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
func ends(t *testing.T, j *batch.Job, code int) (exit int, called string) {
	t.Helper()
	dir := t.TempDir()
	fake := fmt.Sprintf("#!/bin/sh\necho \"$*\" > %s/called\nexit %d\n", dir, code)
	if err := os.WriteFile(filepath.Join(dir, "redlocksim"), []byte(fake), 0o777); err != nil {
		t.Fatal(err)
	}
	command := j.Spec.Template.Spec.Containers[0].Command
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
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
	if *j.Spec.BackoffLimit == 0 || j.Spec.Template.Spec.RestartPolicy != core.RestartPolicyNever {
		t.Errorf("%+v", j.Spec)
	}
	const succeeds, fails, again = "succeeds", "fails the job", "is tried again"
	for code, want := range map[int]string{0: succeeds, 1: succeeds, 3: succeeds, 2: fails, 4: fails, 5: fails, 7: fails, 137: again, 143: again} {
		exit, _ := ends(t, j, code)
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
	_, called := ends(t, j, 0)
	if want := "--workers " + workers(t) + " --dir /results/found --resume"; !strings.HasPrefix(called, "explore --seeds ") || !strings.HasSuffix(called, want) {
		t.Errorf("the pod calls redlocksim %s, want %s", called, want)
	}
}

// workers reads the Redis and the workers, and returns the address at which these take jobs.
func workers(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("workers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(data), "\n---\n")
	if len(documents) != 3 {
		t.Fatalf("%d documents", len(documents))
	}
	var jobs core.Service
	var redis, of apps.Deployment
	for i, into := range []any{&jobs, &redis, &of} {
		if err := yaml.UnmarshalStrict([]byte(documents[i]), into); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []apps.Deployment{redis, of} {
		if !maps.Equal(d.Spec.Selector.MatchLabels, d.Spec.Template.Labels) {
			t.Errorf("%s does not select its own pods", d.Name)
		}
	}
	if !maps.Equal(jobs.Spec.Selector, redis.Spec.Template.Labels) || jobs.Spec.Ports[0].Port != redis.Spec.Template.Spec.Containers[0].Ports[0].ContainerPort {
		t.Errorf("the service is not that of the Redis: %+v", jobs.Spec)
	}
	command := of.Spec.Template.Spec.Containers[0].Command
	if len(command) < 3 || command[0] != "redlocksim" || command[1] != "work" || command[2] != "redis://"+jobs.Name {
		t.Fatalf("workers run %q, and the Redis is %s", command, jobs.Name)
	}
	return command[2]
}
