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
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	return ctx
}
