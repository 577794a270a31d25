ALTER TABLE "approvals" ADD COLUMN "used_by" text;--> statement-breakpoint
CREATE INDEX "approvals_of_call" ON "approvals" USING btree ("project_id","digest");