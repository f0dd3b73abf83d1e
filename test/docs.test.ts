import "../docs/examples/payroll.test.ts"
