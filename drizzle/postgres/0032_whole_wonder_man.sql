CREATE TABLE "approvals" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text,
	"agent" text NOT NULL,
	"used_as" text NOT NULL,
	"subject" text NOT NULL,
	"digest" text NOT NULL,
	"open_key" text,
	"status" text NOT NULL,
	"rules" text NOT NULL,
	"decisions" text NOT NULL,
	"sealed_call" text,
	"expires_at" bigint NOT NULL,
	"use_until" bigint,
	"execution_id" text,
	"created_at" bigint NOT NULL,
	"ended_at" bigint,
	"mac" text
);
--> statement-breakpoint
CREATE TABLE "standing_approvals" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text,
	"agent" text NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"digest" text NOT NULL,
	"fixed" text NOT NULL,
	"sealed_call" text,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"mac" text
);
--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "standing_approvals" ADD CONSTRAINT "standing_approvals_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "approvals_open" ON "approvals" USING btree ("open_key");--> statement-breakpoint
CREATE INDEX "approvals_of_user" ON "approvals" USING btree ("project_id","user_id","created_at");--> statement-breakpoint
CREATE INDEX "approvals_by_status" ON "approvals" USING btree ("project_id","status","created_at");--> statement-breakpoint
CREATE INDEX "approvals_expiry" ON "approvals" USING btree ("status","expires_at");--> statement-breakpoint
CREATE INDEX "standing_approvals_of_user" ON "standing_approvals" USING btree ("project_id","user_id","agent");--> statement-breakpoint
CREATE INDEX "standing_approvals_expiry" ON "standing_approvals" USING btree ("expires_at");