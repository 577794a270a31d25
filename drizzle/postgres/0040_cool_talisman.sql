CREATE TABLE "access_requests" (
	"uid" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"approval_id" text NOT NULL,
	"policy" text NOT NULL,
	"user_id" text NOT NULL,
	"state" text NOT NULL,
	"sealed_task" text NOT NULL,
	"attempts" bigint NOT NULL,
	"next_at" bigint,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_requests_due" ON "access_requests" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "access_requests_of_user" ON "access_requests" USING btree ("project_id","user_id");--> statement-breakpoint
CREATE INDEX "access_requests_expiry" ON "access_requests" USING btree ("expires_at");