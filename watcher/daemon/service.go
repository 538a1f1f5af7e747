package daemon

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/local"
)

// service is the Service of this process, which knows of itself what Local
// does not.
type service struct {
	*local.Service
	server *Server
}

var _ missions.Service = service{}

// Status adds the process that serves, and what is wrong with it.
func (s service) Status(ctx context.Context, r missions.StatusRequest) (missions.Status, error) {
	status, err := s.Service.Status(ctx, r)
	if err != nil || r.Brief {
		return status, err
	}
	stats := s.server.watch.stats()
	live := 0
	for _, ws := range s.LiveWorkspaces() {
		live += len(ws.Missions)
	}
	status.Daemon = &missions.DaemonStatus{
		Running: true, PID: os.Getpid(), Version: s.server.options.Version, StartedAt: s.server.tenure.since,
		Socket: s.server.socket.path, Missions: live, Watches: stats.Watches,
		MemoryBytes: residentMemory(), Overflows: stats.Overflows,
		Housekeeping: s.server.house.report(),
	}
	if why, fix := s.server.watch.trouble(); why != "" {
		status.Problems = append(status.Problems, missions.Problem{Message: why, Fix: fix})
	}
	for _, h := range status.Daemon.Housekeeping {
		if h.Problem != "" {
			status.Problems = append(status.Problems, missions.Problem{Project: h.Project, Message: "housekeeping failed: " + h.Problem, Fix: "umbra doctor"})
		}
	}
	if why, fix := s.server.index.trouble(); why != "" {
		status.Problems = append(status.Problems, missions.Problem{Message: why, Fix: fix})
	}
	return status, nil
}

// residentMemory is what the process has in memory, in bytes: from
// /proc/self/statm (proc(5)), else what the Go runtime has of the system.
func residentMemory() int64 {
	p, err := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(p)); err == nil && len(fields) > 1 {
		if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
