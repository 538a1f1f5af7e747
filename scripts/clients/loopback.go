package clients

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// isolated marks the process that runs the tests in its own network.
const isolated = "UMBRA_TEST_LOOPBACK_ONLY"

// Main is what a TestMain whose tests run real agents exits with:
//
//	func TestMain(m *testing.M) { os.Exit(clients.Main(m)) }
//
// It installs the clients of the gate, while there is a network, and then runs
// the tests as root on Linux in a child with a network namespace of its own,
// which holds nothing but loopback: what an agent sends elsewhere fails, and
// test and model server, in the same namespace, still meet. Elsewhere the tests
// rely on Env alone, and it says so.
func Main(m *testing.M) int {
	if !flag.Parsed() {
		flag.Parse()
	}
	if os.Getenv(isolated) != "" {
		if err := raiseLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, "raise loopback:", err)
			return 1
		}
		return m.Run()
	}
	if testing.Short() {
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(10*time.Minute))
	defer cancel()
	if _, err := InstallTested(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code, err := runIsolated()
	if err != nil {
		fmt.Fprintf(os.Stderr, "no network namespace (%v): relying on the clients' environment\n", err)
		return m.Run()
	}
	return code
}
