package workers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// At the Redis each build has a queue, which is a stream with one group of consumers, and each batch of jobs a hash: what its
// jobs share, and the inputs of each chunk. An entry of the queue names a chunk of a batch. It stays until a worker has stored
// the result, in one transaction.
const (
	group = "workers"

	kindField   = "kind" // of a batch
	commonField = "common"

	batchField  = "batch" // of an entry
	numberField = "number"
)

const (
	// stays is for how long a batch, or a result that nobody fetches, stays. Whoever waits renews the batch at every look.
	stays = 10 * time.Minute
	// queueStays is for how long a queue stays that nobody uses.
	queueStays = 24 * time.Hour
	// beat is how often a worker tells that it is at a chunk. It is lost if it has told nothing for longer, and its chunk is
	// given to another: if it is done twice, that does no harm.
	beat = 2 * time.Second
	lost = 10 * time.Second
)

// join sees to it that there is a queue for a build.
func join(ctx context.Context, client *redis.Client, at Address, build string) error {
	err := client.XGroupCreateMkStream(ctx, at.queue(build), group, "0").Err()
	if err != nil && !strings.HasPrefix(err.Error(), "BUSYGROUP") { // it is there
		return err
	}
	return client.Expire(ctx, at.queue(build), queueStays).Err()
}

// appear notes, by the clock of the Redis, that somebody is there: who asks for jobs by its build, and who does some by its
// build and a name. Each is there for as long as it takes to be lost.
func appear(ctx context.Context, client *redis.Client, at Address, names ...string) error {
	now, err := client.Time(ctx).Result()
	if err != nil {
		return err
	}
	_, err = client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, name := range names {
			p.ZAdd(ctx, at.present(), redis.Z{Score: float64(now.Unix()), Member: name})
		}
		p.ZRemRangeByScore(ctx, at.present(), "-inf", strconv.FormatInt(now.Add(-lost).Unix(), 10))
		p.Expire(ctx, at.present(), queueStays)
		return nil
	})
	return err
}

// present are the builds of who asks for jobs, and for each build how many jobs are done at once.
func present(ctx context.Context, client *redis.Client, at Address) (asking []string, doing map[string]int, err error) {
	names, err := client.ZRange(ctx, at.present(), 0, -1).Result()
	doing = map[string]int{}
	for _, name := range names {
		if build, _, isWorker := strings.Cut(name, " "); isWorker {
			doing[build]++
		} else {
			asking = append(asking, build)
		}
	}
	return asking, doing, err
}

// result is what came of a chunk.
type result struct {
	// Outcomes are those of its jobs, up to the first that failed.
	Outcomes [][]byte `json:"outcomes"`
	// Refused is why it was not done, and never will be.
	Refused string `json:"refused,omitempty"`
}

const (
	// maxBatch bounds what the jobs of a batch share, and the inputs of a chunk, in bytes: some ten times what they have. A
	// worker does as many at a time as it has cores, and reading takes some twenty times as much memory.
	maxBatch = 8 << 20
	// maxResult bounds the result of one, which may have pages in it. They are read one after the other.
	maxResult = 64 << 20
)

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

func packJSON(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return pack(data)
}

func unpackJSON(packed []byte, limit int, into any) error {
	data, err := unpack(packed, limit)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
