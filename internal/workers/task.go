package workers

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/hibiken/asynq"

	"redlocksim/internal/jobs"
)

// chunk is a part of a batch, on its way to a worker as a task of asynq.
type chunk struct {
	// Common is the hash of what the jobs of the batch share.
	Common string   `json:"common"`
	Inputs [][]byte `json:"inputs"`
}

// result is what came of a chunk.
type result struct {
	// Outcomes are those of its jobs, up to the first that failed.
	Outcomes [][]byte `json:"outcomes"`
	// Refused is why it was not done, and never will be.
	Refused string `json:"refused,omitempty"`
}

const (
	// longest is for how long asynq lets a task run. A worker that is lost is noticed long before: it keeps a lease of 30 s.
	longest = 24 * time.Hour
	// retention is for how long results stay that nobody fetches.
	retention = 10 * time.Minute
	// deliveries bounds how often a task is delivered, since workers come and go.
	deliveries = 1000
	// commonStays is for how long what jobs share stays after they were last asked for.
	commonStays = 24 * time.Hour
)

// hashOf names bytes after what is in them.
func hashOf(parts ...[]byte) string {
	hash := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(hash, "%d\n", len(p))
		hash.Write(p)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// task is the chunk as a task of asynq, and its ID: copy is 0, or the number of the copy.
func (c *chunk) task(kind string, copy int) (*asynq.Task, string, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, "", err
	}
	id := hashOf([]byte(kind), data)
	if copy > 0 {
		id = fmt.Sprintf("%s-%d", id, copy)
	}
	packed, err := pack(data)
	return asynq.NewTask(kind, packed), id, err
}

// batchOf reads a task.
func batchOf(t *asynq.Task) (jobs.Batch, string, error) {
	data, err := unpack(t.Payload(), maxTask)
	if err != nil {
		return jobs.Batch{}, "", err
	}
	var c chunk
	err = json.Unmarshal(data, &c)
	return jobs.Batch{Kind: t.Type(), Inputs: c.Inputs}, c.Common, err
}

// resultOf reads a result.
func resultOf(packed []byte) (r result, err error) {
	data, err := unpack(packed, maxResult)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// pack and unpack compress what is stored in the Redis.
func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

func unpack(data []byte, limit int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return data, err
}

const (
	// maxTask bounds a task, and what the jobs of a batch share, in bytes: some ten times what they have. A worker does as many
	// at a time as it has cores, and reading takes some twenty times as much memory.
	maxTask = 8 << 20
	// maxResult bounds the result of one, which may have pages in it. They are read one after the other.
	maxResult = 64 << 20
)
