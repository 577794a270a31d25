ALTER TABLE "api_keys" ADD COLUMN "approver_groups" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "created_by" text;