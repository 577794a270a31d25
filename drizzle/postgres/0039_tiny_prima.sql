ALTER TABLE "executions" ADD COLUMN "approval_id" text;--> statement-breakpoint
CREATE UNIQUE INDEX "executions_approval" ON "executions" USING btree ("approval_id") WHERE approval_id is not null;