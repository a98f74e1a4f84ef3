// Package browser starts chromium for tests of pages.
package browser

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// RequireEnv is the environment variable that, set to 1, makes a missing chromium a failure instead of a skip.
const RequireEnv = "REDLOCKSIM_REQUIRE_BROWSER"

// mostTime bounds what a test does in a browser.
const mostTime = 3 * time.Minute

// Start starts chromium, and ends it with the test. Tabs are opened under the context that it returns. Without chromium on
// the PATH the test is skipped; see RequireEnv.
func Start(t testing.TB) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv(RequireEnv) == "1" {
			t.Fatalf("%s=1 and there is no chromium on the PATH: %v", RequireEnv, err)
		}
		t.Skip("there is no chromium on the PATH (Debian package chromium)")
	}
	for try := 1; ; try++ {
		ctx, err := start(t, path)
		if err == nil {
			return ctx
		}
		if try == starts {
			t.Fatalf("chromium does not start: %v", err)
		}
		t.Logf("chromium has not started, and is started again: %v", err)
	}
}

// starts is how often chromium is started at the most: it was seen to crash as it starts, which says nothing of a page.
const starts = 3

func start(t testing.TB, path string) (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stop := context.WithTimeout(t.Context(), mostTime)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	return ctx, chromedp.Do(ctx)
}
