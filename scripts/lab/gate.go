package lab

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"
)

// untilVar is when the gate has to be over, in seconds since 1970, where its time is
// limited (scripts/check --within).
const untilVar = "UMBRA_CHECK_UNTIL"

// GateTime is how much time the gate has left: without end where it is not limited.
func GateTime() (time.Duration, error) {
	text := os.Getenv(untilVar)
	if text == "" {
		return math.MaxInt64, nil
	}
	until, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", untilVar, err)
	}
	return time.Until(time.Unix(until, 0)), nil
}
