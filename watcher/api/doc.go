// Package api is the wire protocol between umbra's commands and the process
// that serves them: names, headers and frames. It knows neither side, so that
// a lean client can import it alone; what a request or result holds is its
// method's own business.
//
// A call is POST /v1/<method> over HTTP on a Unix socket, its body one JSON
// request. The answer is NDJSON: any number of lines {"notice": …}, then one
// last line with "result", "error", or both (a method that fails may still
// have something to say). An answer without a last line was cut off.
package api
