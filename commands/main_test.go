package commands

import (
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// exitAtOnce is for the environment of umbra in a test: built for the race
// detector, it else sleeps a second at the end of each command.
const exitAtOnce = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"umbra": func() { os.Exit(Main(time.Now)) }})
}
