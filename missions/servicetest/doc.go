// Package servicetest is the contract of missions.Service: what every
// implementation promises, checked from outside. It knows none of them: each
// one's tests run the suite over it. A check returns what is wrong, so that a
// faulty implementation can be shown to fail.
package servicetest
