package client

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
)

// BesideHung is the Service of a command that found a process which serves the home and
// does not answer; why is Connect's error. What only reads is read by own, in this
// process, and says so. All else is refused: the process may go on at any moment.
func BesideHung(own missions.Service, why error) missions.Service {
	hung := missions.AsError(why)
	return missions.NewRelay(func(ctx context.Context, m missions.Method, request, result any) error {
		reads, ok := request.(interface{ OnlyReads() bool })
		if !m.Is(missions.Reads) && !(ok && reads.OnlyReads()) {
			return why
		}
		if err := m.Call(ctx, own, request, result); err != nil {
			return err
		}
		problem := missions.Problem{Message: hung.Message, Fix: hung.Hint}
		switch r := result.(type) {
		case *missions.Status:
			r.Daemon = &missions.DaemonStatus{Hangs: true}
			r.Problems = append(r.Problems, problem)
		case *missions.DoctorResult:
			r.Problems = append(r.Problems, problem)
		default:
			missions.Notify(ctx, missions.Notice{Text: hung.Message + ", so this is read without it: " + hung.Hint})
		}
		return nil
	})
}
