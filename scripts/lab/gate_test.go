package lab

import (
	"fmt"
	"testing"
	"time"
)

func TestGateTime(t *testing.T) {
	t.Setenv(untilVar, "")
	if left, err := GateTime(); err != nil || left < 24*time.Hour {
		t.Errorf("without a limit %v are left, %v", left, err)
	}
	t.Setenv(untilVar, fmt.Sprint(time.Now().Add(5*time.Minute).Unix()))
	if left, err := GateTime(); err != nil || left > 5*time.Minute || left < 4*time.Minute {
		t.Errorf("%v are left of five minutes, %v", left, err)
	}
	t.Setenv(untilVar, "soon")
	if _, err := GateTime(); err == nil {
		t.Error("soon is a time")
	}
}
